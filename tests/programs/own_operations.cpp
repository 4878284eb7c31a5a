// SPDX-License-Identifier: BSL-1.0
// Operations of one's own in programs as data, which another file lists.
#include "programs/own_operations.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "support/errors.hpp"
#include "tagma/own_operations.hpp"
#include "tagma/program_files.hpp"
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

}  // namespace
