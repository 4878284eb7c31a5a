// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/fold_frozen.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "support/graphs.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/explain.hpp"
#include "tagma/filter.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

/// Hands a tensor on and counts its calls. Not stateful: equal ones are one.
struct counted_step {
  static constexpr std::string_view name = "test.counted";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
inline std::atomic<int> counted_calls{0};

inline void run_counted(const runtime::kernel_args& args, const runtime::run_context&) {
  ++counted_calls;
  std::memcpy(args.out.data, args.in[0].data, args.in[0].bytes());
}

template <expression E>
[[nodiscard]] constexpr auto counted_value(const E& e) {
  return make_operation<counted_step, ir::attributes<0>{}, counted_step>(e);
}

}  // namespace tagma::test

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::counted_step>> {
  template <dtype, dtype>
  static constexpr kernel_entry entry{&test::run_counted};
};

namespace {

namespace tg = tagma;
using tg::test::count_of;
using tg::test::counted_calls;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
const std::vector<float> some{1, -2, 3, 0.5F, -0.25F, 6, -7, 8};

template <class Session>
void set(Session& session, std::string_view name, const std::vector<float>& values) {
  for (std::size_t i = 0; i < session.core().variables().size(); ++i)
    if (session.core().variable(i).name() == name) session.core().variable(i).assign(values.data());
}

const auto w = tg::variable<"w", float, 4>(tg::ones);
const auto v = tg::variable<"v", float, 4>(tg::random_normal(0, 1));

}  // namespace

TEST_CASE("what depends on frozen variables alone is computed once, and again when one was written") {
  const auto scaled = tg::test::counted_value(tg::square(w) + v) * 2.0F;
  const auto y = x * scaled;
  const auto plain = tg::compile([=] { return tg::outputs(y); });
  const auto kept = tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>);
  CHECK(count_of(kept, "keep") == 1);
  CHECK_THAT(tg::explain(kept, 2), Catch::Contains("keep"));
  tg::session expected(plain, {.seed = 5});
  tg::session session(kept, {.seed = 5});
  for (const std::vector<float>& now : {std::vector<float>{1, 1, 1, 1}, std::vector<float>{3, -1, 0, 2}}) {
    set(expected, "w", now), set(session, "w", now);
    counted_calls = 0;
    const auto there = expected.run(y, x = some);
    CHECK(counted_calls == 1);
    for (int i = 0; i < 5; ++i) {
      const auto here = session.run(y, x = some);
      CHECK(std::equal(here.span().begin(), here.span().end(), there.span().begin()));
    }
    CHECK(counted_calls == 2);
  }
}

TEST_CASE("what a program updates is not kept, nor what is read for every run") {
  const auto scaled = tg::test::counted_value(tg::square(w));
  const auto y = x * scaled;
  const auto moved = tg::assign_add(w, w);
  const auto program = tg::compile([=] { return tg::outputs(y, moved); }, tg::passes<tg::fold_frozen>);
  CHECK(count_of(program, "keep") == 0);
  const auto noisy =
      tg::compile([=] { return tg::outputs(x * tg::dropout(tg::test::counted_value(tg::square(w)), 0.5)); },
                  tg::passes<tg::fold_frozen>);
  CHECK(count_of(noisy, "keep") == 1);  // before the random numbers
}

TEST_CASE("what has extents that a kernel finds is not kept, nor what depends on it") {
  const auto m = tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.5));
  const auto where = tg::cast<float>(tg::nonzero(tg::relu(m)));
  const auto y = x * tg::sum(where) * tg::test::counted_value(tg::square(w));
  const auto kept = tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>);
  tg::session session(kept, {.seed = 3});
  counted_calls = 0;
  for (int run = 0; run < 3; ++run) CHECK(session.run(y, x = some).size() == some.size());
  CHECK(counted_calls == 1);
}

TEST_CASE("a program that only reads sees what another one writes into their container") {
  const auto scaled = tg::test::counted_value(tg::square(w));
  const auto y = x * scaled;
  const auto moved = tg::assign_add(w, w);
  const auto reads = tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>);
  const auto writes = tg::compile([=] { return tg::outputs(moved); });
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session reader(reads, {.state = state});
    tg::session writer(writes, {.state = state});
    float power = 1;
    counted_calls = 0;
    for (int i = 0; i < 4; ++i, power *= 4) {
      for (int again = 0; again < 3; ++again) CHECK(reader.run(y, x = some).span()[0] == power);
      CHECK(counted_calls == i + 1);
      writer.run(moved);
    }
  }
}

TEST_CASE("a run sees what was kept and the variables of one moment") {
  const auto doubled = w * 2.0F;
  const auto rest = ((x + doubled) - w) - w;
  const auto moved = tg::assign_add(w, w * 0.0F + 1.0F);
  const std::vector<float> zeros(4, 0.0F);
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session reader(tg::compile([=] { return tg::outputs(rest); }, tg::passes<tg::fold_frozen>),
                       {.intra_op_threads = 1, .state = state});
    tg::session writer(tg::compile([=] { return tg::outputs(moved); }), {.intra_op_threads = 1, .state = state});
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (!stop) writer.run(moved);
    });
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) wrong += reader.run(rest, x = zeros).span()[0] != 0;
    stop = true;
    other.join();
    CHECK(wrong == 0);
  }
}

namespace {

/// Results of some runs of two shapes, from a net with frozen parts between others.
template <class Program, class Out>
std::vector<float> results(const Program& program, const Out& out, const tg::session_options& options) {
  tg::session session(program, options);
  std::vector<float> all;
  for (int run = 0; run < 4; ++run)
    for (const std::size_t rows : {1U, 2U}) {
      if (run == 2) set(session, "w", {2, 1, -1, 0.5F});
      const auto r = session.run(out, x = std::vector<float>(some.begin(), some.begin() + static_cast<int>(4 * rows)));
      all.insert(all.end(), r.span().begin(), r.span().end());
    }
  return all;
}

TEST_CASE("one of several results of what is frozen is kept") {
  const auto parts = tg::moments(tg::test::counted_value(w));
  const auto variance = std::get<1>(parts);
  const auto y = x * variance;
  const auto program = tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>);
  CHECK(count_of(program, "keep") == 1);
  tg::session session(program);
  set(session, "w", {1, 2, 3, 6});
  const tg::tensor<float> in({2, 4}, some);
  counted_calls = 0;
  for (int run = 0; run < 3; ++run) {
    const auto result = session.run(y, x = in);
    for (int i = 0; i < 8; ++i) CHECK(result(i / 4, i % 4) == Approx(some[static_cast<std::size_t>(i)] * 3.5));
  }
  CHECK(counted_calls == 1);
}

}  // namespace

TEST_CASE("kept values stay where they are, whatever is computed beside them") {
  const auto m = tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.5));
  const auto doubled = tg::matmul(m, tg::transpose(m));
  const auto a = tg::matmul(x, doubled);
  const auto b = tg::tanh(a * tg::exp(w) + v);
  const auto c = tg::matmul(b, tg::matmul(doubled, m));
  const auto d = tg::softmax(c + tg::tanh(tg::matmul(tg::reshape<1, 4>(v), m)));
  const auto out = tg::matmul(tg::tanh(d) * tg::sigmoid(b), tg::matmul(m, doubled));
  const auto plain = tg::compile([=] { return tg::outputs(out); });
  const auto kept = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
  CHECK(count_of(kept, "keep") >= 4);
  // They come first, so that what varies with the batch shares its memory as before.
  CHECK(kept.peak_bytes(1000) < plain.peak_bytes(1000) + 4096);
  const std::vector<float> expected = results(plain, out, {.seed = 3});
  for (const int threads : {1, 4}) {
    const std::vector<float> found =
        results(kept, out, {.seed = 3, .intra_op_threads = 1, .inter_op_threads = threads});
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-6));
  }
}

TEST_CASE("values are kept on several devices") {
  const auto m = tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.5));
  const auto doubled = tg::matmul(m, tg::transpose(m));
  const auto far =
      tg::on<tg::cpu<1>>([](const auto& a, const auto& b) { return tg::matmul(a, tg::exp(b)); })(x, doubled);
  const auto out = tg::on<tg::cpu<0>>([](const auto& a, const auto& b) { return tg::matmul(tg::tanh(a), b); })(
      far, tg::matmul(doubled, m));
  const auto sum = out + tg::exp(w);
  const auto expected = tg::compile([=] { return tg::outputs(sum); });
  const auto kept = tg::compile([=] { return tg::outputs(sum); }, tg::passes<tg::fold_frozen>);
  CHECK(results(kept, sum, {.seed = 3, .cpu_devices = 2}) == results(expected, sum, {.seed = 3, .cpu_devices = 2}));
}

TEST_CASE("folded normalisations are folded once") {
  constexpr auto image = tg::placeholder<"image", float, tg::dyn, 5, 5, 2>();
  const auto net = tg::relu(tg::batch_norm<"bn">(tg::conv2d<"conv", 4, 3>(image), tg::phase::inference));
  const auto plain = tg::compile([=] { return tg::outputs(net); });
  const auto folded = tg::compile([=] { return tg::outputs(net); }, tg::passes<tg::fold_batch_norm, tg::fold_frozen>);
  CHECK(count_of(folded, "keep") == 2);  // filter and bias
  tg::tensor<float> pixels(tg::shape{1, 5, 5, 2});
  for (tg::extent i = 0; i < 50; ++i) pixels[i] = static_cast<float>(i % 7) - 3;
  tg::session one(plain, {.seed = 1});
  tg::session other(folded, {.seed = 1});
  for (const float mean : {0.0F, 0.5F}) {
    set(one, "bn/moving_mean", {mean, 1, 2, -1}), set(other, "bn/moving_mean", {mean, 1, 2, -1});
    const auto expected = one.run(net, image = pixels);
    for (int run = 0; run < 3; ++run) {
      const auto found = other.run(net, image = pixels);
      for (tg::extent i = 0; i < found.dims().elements(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-5));
    }
  }
}

TEST_CASE("loops and branches read what is kept around them") {
  const auto m = tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.5));
  const auto product = tg::matmul(m, tg::transpose(m));
  const auto check = [](const auto& out, int keeps, int calls) {
    const auto plain = tg::compile([=] { return tg::outputs(out); });
    const auto kept = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
    CHECK(count_of(kept, "keep") == keeps);
    for (const int threads : {1, 3}) {
      tg::session expected(plain, {.seed = 3, .inter_op_threads = threads});
      tg::session session(kept, {.seed = 3, .inter_op_threads = threads});
      for (const std::vector<float>& now : {std::vector<float>{1, 1, 1, 1}, std::vector<float>{3, -1, 0, 2}}) {
        set(expected, "w", now), set(session, "w", now);
        counted_calls = 0;
        for (int run = 0; run < 4; ++run) {
          std::vector<float> fed = some;
          for (float& f : fed) f *= run % 2 == 0 ? 1.0F : -1.0F;
          const int before = counted_calls;
          const auto there = expected.run(out, x = fed);
          counted_calls = before;
          const auto here = session.run(out, x = fed);
          REQUIRE(here.dims() == there.dims());
          CHECK(std::equal(here.span().begin(), here.span().end(), there.span().begin()));
        }
        CHECK(counted_calls == calls);
      }
    }
  };
  SECTION("in a body, and in one of that") {
    const auto [last, rows] = tg::scan(tg::carry(v * 0.0F), tg::over(x), [&](const auto& c, const auto& e) {
      const auto [inner] = tg::scan<3>(tg::carry(c), tg::over(), [&](const auto& d) {
        const auto long_row = tg::matmul(tg::reshape<1, 4>(d), product);
        return tg::next(tg::tanh(tg::reshape<4>(long_row)) * tg::test::counted_value(tg::square(w)));
      });
      return tg::next(inner + e).emit(inner * tg::exp(v));
    });
    check(rows + last, 3, 1);
  }
  SECTION("as the sequence and as what is carried first") {
    const auto sequence = tg::test::counted_value(tg::matmul(m, product) + w);
    const auto [last, rows] =
        tg::scan<4, true>(tg::carry(tg::exp(tg::test::counted_value(tg::square(w)))), tg::over(sequence),
                          [&](const auto& c, const auto& e) { return tg::next(tg::sin(c * e)).emit(c); });
    check(tg::matmul(x, rows) + last, 0, 2);
  }
  SECTION("in a branch, taken or not") {
    const auto out = tg::cond(
        tg::sum(x) > 0.0F,
        [&](const auto& a) { return tg::matmul(a, product) * tg::test::counted_value(tg::square(w)); },
        [&](const auto& a) { return a + tg::exp(tg::test::counted_value(w * 2.0F)); }, x);
    check(out * 2.0F, 3, 2);
  }
  SECTION("in front of a loop that ends by itself, and behind it") {
    const auto weights = tg::test::counted_value(tg::square(w));
    const auto [count, end] = tg::while_loop<6>(
        tg::carry(tg::sum(v) * 0.0F, x), [](const auto& n, const auto& c) { return n + tg::sum(c * c) < 200.0F; },
        [&](const auto& n, const auto& c) { return tg::next(n + 1.0F, c + weights); });
    check(end * tg::exp(weights) + count, 3, 1);
  }
}
