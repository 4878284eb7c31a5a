// SPDX-License-Identifier: BSL-1.0
// Operations of one's own in programs as data, which another file lists.
#include "programs/own_operations.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "support/errors.hpp"
#include "tagma/filter.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/own_operations.hpp"
#include "tagma/program_files.hpp"
#include "tagma/program_passes.hpp"
#include "tagma/programs.hpp"

namespace {

namespace tg = tagma;
using tg::feed_to;
using tg::status_code;
using tg::test::code_of;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto z = tg::placeholder<"z", double, tg::dyn>();

template <class T>
bool are_same(const tg::tensor<T>& a, const tg::any_tensor& b) {
  return b.type() == tg::dtype_of<T> && b.dims() == a.dims() &&
         std::memcmp(a.data(), b.view().data, a.size() * sizeof(T)) == 0;
}
template <class T = float>
tg::tensor<T> some(const tg::shape& dims) {
  tg::tensor<T> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = static_cast<T>(1.7 * std::sin(0.3 + static_cast<double>(i)));
  return t;
}
template <class F>
std::string text_of(const F& f) {
  return std::string(thrown(f).what());
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }
/// The same bytes with a checksum that fits.
std::string with_checksum(std::string bytes) {
  const std::uint32_t crc = tg::io::crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<char>(crc >> 8 * i & 0xff);
  return bytes;
}

TEST_CASE("operations of one's own are written, read, and run with the bytes of the compiled program") {
  const auto sums = mine::running_sum_of(x);
  const auto y = mine::log_cosh_of(sums * 0.5f) * 2.0f + x;  // one loop
  const auto slope = tg::gradient(y, x);
  const auto half_and_above = tg::make_operation<mine::halves>(y);
  const auto half = std::get<0>(half_and_above);
  const auto above = std::get<1>(half_and_above);
  const auto same = tg::make_operation<mine::renamed>(y);
  const auto products = tg::make_operation<mine::two_products>(z, z * 2.0, mine::log_cosh_of(z), z);
  const auto program = tg::compile([=] { return tg::outputs(sums, y, slope, half, above, same, products); });
  const tg::any_program data(program, {"sums", "y", "slope", "half", "above", "same", "products"});
  const std::string bytes = tg::write_program(data);
  CHECK(has(bytes, "mine.log_cosh"));
  const tg::any_program read = tg::read_program_bytes(bytes);
  CHECK(tg::write_program(read) == bytes);
  CHECK(read.fingerprint() == program.fingerprint());
  for (const int threads : {1, 2}) {
    tg::session one(program, {.intra_op_threads = threads});
    tg::session two(read, {.intra_op_threads = threads});
    for (const tg::extent n : {1, 7, 3000}) {
      const auto in = some({n, 4});
      const auto wide = some<double>({n});
      const auto [a, b, c, d, e, f, g] =
          one.run(tg::fetch(sums, y, slope, half, above, same, products), x = in, z = wide);
      const auto got =
          two.run({"sums", "y", "slope", "half", "above", "same", "products"}, feed_to("x", in), feed_to("z", wide));
      CHECK(are_same(a, got[0]));
      CHECK(are_same(b, got[1]));
      CHECK(are_same(c, got[2]));
      CHECK(are_same(d, got[3]));
      CHECK(are_same(e, got[4]));
      CHECK(are_same(f, got[5]));
      CHECK(are_same(g, got[6]));
    }
  }
}

TEST_CASE("values of 16 bits are floats in loops of one's own as well") {
  constexpr auto h = tg::placeholder<"h", tg::float16, tg::dyn>();
  const auto y = mine::log_cosh_of(h) * tg::float16(2.0f);
  const auto program = tg::compile([=] { return y; });
  tg::session one(program);
  tg::session two(tg::read_program_bytes(tg::write_program(tg::any_program(program, {"y"}))));
  tg::tensor<tg::float16> in({600});
  for (int i = 0; i < 600; ++i) in[i] = tg::float16(0.01f * static_cast<float>(i - 300));
  CHECK(are_same(one.run(y, h = in), two.run("y", feed_to("h", in))));
}

TEST_CASE("an operation that nobody has listed") {
  const auto y = tg::make_operation<mine::unlisted>(x);
  const tg::any_program data(tg::compile([=] { return y; }), {"y"});
  const std::string_view hint = "listed in one file of the program, by tagma::listed_operation";
  const std::string written = text_of([&] { (void)tg::write_program(data); });
  CHECK(has(written, "write_program: no file has operation 'mine.unlisted'; "));
  CHECK(has(written, hint));
  tg::session session(data);
  const std::string ran = text_of([&] { session.run("y", feed_to("x", some({1, 4}))); });
  CHECK(has(ran, "no kernel of the CPU for mine.unlisted"));
  CHECK(has(ran, hint));
  std::string bytes = tg::write_program(tg::any_program(tg::compile([=] { return mine::log_cosh_of(x); }), {"y"}));
  bytes[bytes.find("mine.log_cosh") + 5] = 'L';
  const std::string read = text_of([&] { (void)tg::read_program_bytes(with_checksum(bytes)); });
  CHECK(has(read, "Unimplemented"));
  CHECK(has(read, "operation 'mine.Log_cosh' is not known; "));
  CHECK(has(read, hint));
}

TEST_CASE("what is read of an operation of one's own is verified") {
  std::string bytes = tg::write_program(tg::any_program(tg::compile([=] { return mine::log_cosh_of(x); }), {"y"}));
  std::size_t at = bytes.find("mine.log_cosh") - 6;
  CHECK(bytes[at] == 3);
  bytes[at] = 4;
  CHECK(has(text_of([&] { (void)tg::read_program_bytes(with_checksum(bytes)); }),
            "operation 'mine.log_cosh' has version 4, and is known with 3"));
  bytes = tg::write_program(tg::any_program(tg::compile([=] { return mine::running_sum_of(x); }), {"y"}));
  // The sum is the last node: its attribute, value, request and two empty texts are in front of loops and outputs.
  at = bytes.size() - (4 + 7 + 4 + 4 + 4) - (2 + 2 + 2 + 4) - 8;
  REQUIRE(bytes[at] == 0);
  bytes[at] = 5;
  CHECK(has(text_of([&] { (void)tg::read_program_bytes(with_checksum(bytes)); }),
            "mine.running_sum: attribute backwards is 5, not 0 to 1"));
}

TEST_CASE("element types that are not listed") {
  constexpr auto k = tg::placeholder<"k", std::int64_t, 3>();
  tg::session session(tg::any_program(tg::compile([=] { return mine::running_sum_of(k); }), {"y"}));
  const std::string text = text_of([&] { session.run("y", feed_to("k", tg::tensor<std::int64_t>({3}, {1, 2, 3}))); });
  CHECK(has(text, "no kernel of the CPU for mine.running_sum(int64) to int64"));
  CHECK_FALSE(has(text, "listed_operation"));
}

TEST_CASE("two operations of one name") {
  tg::list_operation<mine::twice, float(float)>();
  CHECK_NOTHROW(tg::list_operation<mine::twice, float(float)>());
  CHECK(text_of([] { tg::list_operation<mine::twice, double(double)>(); }) ==
        "AlreadyExists: operation 'mine.twice' is listed twice, with other element types");
  CHECK(text_of([] { tg::list_operation<mine::twice_again, float(float)>(); }) ==
        "AlreadyExists: operation 'mine.twice' is listed twice, by two tags of this name");
  CHECK(text_of([] { tg::list_operation<mine::twice_later, float(float)>(); }) ==
        "AlreadyExists: operation 'mine.twice' is listed with version 1 and with version 2");
  // The first one stays.
  const auto y = tg::make_operation<mine::twice>(x);
  CHECK_NOTHROW(tg::write_program(tg::any_program(tg::compile([=] { return y; }))));
  const auto early = tg::make_operation<mine::early>(x);
  CHECK(text_of([&] { (void)tg::write_program(tg::any_program(tg::compile([=] { return early; }))); }) ==
        "AlreadyExists: operation 'mine.early' is listed with version 1 and with version 2");
}

TEST_CASE("threads list and look up at once") {
  const auto y = mine::log_cosh_of(x);
  const tg::any_program data(tg::compile([=] { return y; }), {"y"});
  const std::string bytes = tg::write_program(data);
  const auto in = some({2, 4});
  std::thread other([] {
    for (int i = 0; i < 500; ++i) tg::list_operation<mine::twice, float(float)>();
  });
  for (int i = 0; i < 50; ++i) {
    tg::session session(tg::read_program_bytes(bytes));
    REQUIRE(session.run("y", feed_to("x", in)).dims() == in.dims());
  }
  other.join();
}

void set(tg::session<tg::any_program>& session, std::string_view name, const std::vector<float>& values) {
  for (std::size_t i = 0; i < session.core().variables().size(); ++i)
    if (session.core().variable(i).name() == name) session.core().variable(i).assign(values.data());
}
using mine::counted_calls;
const auto w = tg::variable<"w", float, 4>(tg::ones);
const auto m = tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.5));

/// Runs `y` of a program with kept values, read from bytes, against the same without: the bytes, and how often the
/// counted operation is called for each value of `w`.
template <class Y>
void check_kept(const Y& y, int calls) {
  const auto plain = tg::compile([=] { return tg::outputs(y); });
  const auto folded = tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>);
  const auto data = tg::read_program_bytes(tg::write_program(tg::any_program(folded, {"y"})));
  const auto behind = tg::behind_passes(tg::any_program(plain, {"y"}), tg::passes<tg::fold_frozen>);
  CHECK(behind.fingerprint() == folded.fingerprint());
  CHECK(data.peak_bytes(100) == folded.peak_bytes(100));
  for (const tg::any_program& program : {data, behind})
    for (const int threads : {1, 3}) {
      const tg::session_options options{.seed = 3, .intra_op_threads = threads, .inter_op_threads = threads};
      tg::session expected(plain, options);
      tg::session session(program, options);
      for (const std::vector<float>& now : {std::vector<float>{1, 1, 1, 1}, std::vector<float>{3, -1, 0, 2}}) {
        for (std::size_t i = 0; i < expected.core().variables().size(); ++i)
          if (expected.core().variable(i).name() == "w") expected.core().variable(i).assign(now.data());
        set(session, "w", now);
        int here = 0;
        for (int run = 0; run < 6; ++run) {
          const auto in = some({1 + run % 2, 4});
          const auto wanted = expected.run(y, x = in);
          counted_calls = 0;
          REQUIRE(are_same(wanted, session.run("y", feed_to("x", in))));
          here += counted_calls;
        }
        CHECK(here == 2 * calls);  // two shapes, so two plans
      }
    }
}

TEST_CASE("what depends on frozen variables alone is kept by programs that are data") {
  const auto scaled = mine::counted_of(tg::square(w) + tg::sum<0>(m)) * 2.0f;
  const auto product = tg::matmul(m, tg::transpose(m));
  check_kept(x * scaled, 1);
  check_kept(tg::matmul(tg::tanh(tg::matmul(x, product) * scaled), tg::matmul(product, m)), 1);
  check_kept(tg::on<"/device:CPU:0">([](const auto& a, const auto& b) { return a * tg::exp(b); })(x, scaled), 1);
  const auto [last, rows] = tg::scan(tg::carry(tg::sum<0>(m)), tg::over(x), [&](const auto& c, const auto& e) {
    const auto next = tg::tanh(c * mine::counted_of(w) + e);
    return tg::next(next).emit(next * tg::reshape<4>(tg::matmul(tg::reshape<1, 4>(next), product)));
  });
  check_kept(rows + last, 1);
  // Extents that a kernel finds are found in each run.
  const auto where = tg::cast<float>(tg::nonzero(tg::relu(m)));
  check_kept(x * tg::sum(mine::counted_of(where * 0.5f)) + tg::sum(where * tg::sum(x)) * scaled, 4);
}

TEST_CASE("kept values of a program that is data are those of the last write, and of what is fed") {
  const auto scaled = mine::counted_of(tg::square(w));
  const auto y = x * scaled;
  const auto moved = tg::assign_add(w, w);
  const tg::any_program reads(tg::compile([=] { return tg::outputs(y, scaled); }, tg::passes<tg::fold_frozen>),
                              {"y", "scaled"});
  const tg::any_program writes(tg::compile([=] { return tg::outputs(moved); }), {"moved"});
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session reader(reads, {.state = state});
    tg::session writer(writes, {.state = state});
    const auto in = some({2, 4});
    float power = 1;
    counted_calls = 0;
    for (int i = 0; i < 4; ++i, power *= 4) {
      for (int again = 0; again < 3; ++again) {
        CHECK(reader.run("y", feed_to("x", in)).as<float>()[1] == in[1] * power);
        const tg::tensor<float> other({4}, {2.0f, 3.0f * static_cast<float>(again), 4.0f, 5.0f});
        CHECK(reader.run("y", feed_to("x", in), feed_to("scaled", other)).as<float>()[1] == in[1] * other[1]);
      }
      CHECK(counted_calls == i + 1);
      (void)writer.run("moved");
    }
  }
  // What the program itself updates is not kept.
  const auto both = tg::compile([=] { return tg::outputs(y, moved); });
  tg::session session(tg::behind_passes(tg::any_program(both, {"y", "moved"}), tg::passes<tg::fold_frozen>));
  const auto in = some({1, 4});
  CHECK(session.run("y", feed_to("x", in)).as<float>()[0] == in[0]);
  (void)session.run("moved");
  CHECK(session.run("y", feed_to("x", in)).as<float>()[0] == 4 * in[0]);
}

struct into_two {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::exp>()) r.replace(r.emit_with(tg::op::sum{}, tg::ir::pack_attributes(1, 0), r.in(0)));
  }
};
/// What no operation takes, one each.
enum class misfit {
  few_operands,
  many_operands,
  no_operands,
  no_attributes,
  wrong_attribute,
  several_results,
  result_of_one,
  copy,
  none
};
template <misfit Which>
struct add_misfit {
  static constexpr void visit(tg::rewriter& r) {
    if (!r.is<tg::op::exp>()) return;
    const tg::ir::node_id in = r.in(0), many[] = {in, in, in, in, in};
    switch (Which) {
      case misfit::few_operands:
        return r.replace(r.emit(tg::op::matmul{}, in));
      case misfit::many_operands:
        return r.replace(r.emit_over(tg::op::add{}, many, {}));
      case misfit::no_operands:
        return r.replace(r.emit_over(tg::op::exp{}, {}, {}));
      case misfit::no_attributes:
        return r.replace(r.emit(tg::op::transpose{}, in));
      case misfit::wrong_attribute:
        return r.replace(r.emit_with(tg::op::transpose{}, tg::ir::pack_attributes(1, 4000), in));
      case misfit::several_results:
        return r.replace(r.info(in).is(tg::ir::op_kind::output) ? r.emit(tg::op::exp{}, r.input(in, 0)) : in);
      case misfit::result_of_one:
        return r.replace(r.emit_with(tg::ir::output_op{}, tg::ir::pack_attributes(0), in));
      case misfit::copy:
        return r.replace(r.copy_with({}));
      case misfit::none:
        return r.replace(r.copy_with({many, 1}));
    }
  }
};
struct double_by_adding {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::multiply>() && r.constant(r.in(1)).is(2)) r.replace(r.emit(tg::op::add{}, r.in(0), r.in(0)));
  }
};

TEST_CASE("passes over programs that are data") {
  const auto y = tg::exp(x) * 2.0f;
  const tg::any_program data(tg::compile([=] { return tg::outputs(y); }), {"y"});
  const auto doubled = tg::behind_passes(data, tg::passes<double_by_adding>);
  CHECK(doubled.outputs() == data.outputs());
  CHECK(doubled.fingerprint() ==
        tg::compile([=] { return tg::outputs(y); }, tg::passes<double_by_adding>).fingerprint());
  tg::session one(data), two(doubled);
  const auto in = some({3, 4});
  const auto a = one.run("y", feed_to("x", in)), c = two.run("y", feed_to("x", in));
  CHECK(a.dims() == c.dims());
  CHECK(std::memcmp(a.view().data, c.view().data, in.size() * sizeof(float)) == 0);
  const auto says = [&](const char* number, auto what) {
    const std::string text = text_of([&] { (void)tg::behind_passes(data, what); });
    INFO(text);
    CHECK(has(text, number));
  };
  says("TAGMA-E210", tg::passes<into_two>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::few_operands>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::many_operands>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::no_operands>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::no_attributes>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::wrong_attribute>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::result_of_one>>);
  says("TAGMA-E211", tg::passes<add_misfit<misfit::copy>>);
  CHECK(tg::behind_passes(data, tg::passes<add_misfit<misfit::none>>).fingerprint() == data.fingerprint());

  const auto parts = tg::top_k<2>(x);
  const auto largest = tg::exp(parts.first);
  const tg::any_program several(tg::compile([=] { return tg::outputs(largest); }), {"y"});
  CHECK(has(text_of([&] { (void)tg::behind_passes(several, tg::passes<add_misfit<misfit::several_results>>); }),
            "TAGMA-E211"));
}

}  // namespace
