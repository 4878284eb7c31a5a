// SPDX-License-Identifier: BSL-1.0
#include "tagma/datasets.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code;
using tg::test::code_of, tg::test::text_of;
using number = std::int64_t;
using floats = tg::tensor<float>;

template <class T>
std::vector<T> all(const tg::dataset<T>& data) {
  std::vector<T> read;
  for (T& x : data) read.push_back(std::move(x));
  return read;
}
/// The same elements without their numbers, which other code reads.
template <class T>
tg::dataset<T> unnumbered(const tg::dataset<T>& data) {
  return data.filter([](const T&) { return true; });
}
tg::dataset<floats> of_shapes(std::vector<tg::shape> shapes) {
  return ds::range(static_cast<number>(shapes.size())).map([shapes = std::move(shapes)](number i) {
    floats t(shapes[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < t.size(); ++k) t[k] = static_cast<float>(k + 1);
    return t;
  });
}

TEST_CASE("batches are whole but for the last one, which may be left out", "[scenario 127]") {
  for (const auto& data : {ds::range(98), unnumbered(ds::range(98))}) {
    const auto batches = all(data.batch(8));
    REQUIRE(batches.size() == 13);
    CHECK(batches[1] == tg::tensor<number>({8}, {8, 9, 10, 11, 12, 13, 14, 15}));
    CHECK(batches[12] == tg::tensor<number>({2}, {96, 97}));
    CHECK(all(data.batch(8, true)).size() == 12);
    CHECK(all(data.take(0).batch(8)).empty());
    CHECK(all(data.batch(1000)).front().size() == 98);
    CHECK(all(data.batch(std::int64_t{1} << 60)).front().size() == 98);
    for (const int n : {0, -1}) CHECK(code_of([&] { (void)data.batch(n); }) == status_code::invalid_argument);
  }
  CHECK(ds::range(98).batch(8).size() == 13);
  CHECK(ds::range(98).batch(8, true).size() == 12);
  const auto large = all(unnumbered(ds::range(5000)).batch(4001));
  REQUIRE(large.size() == 2);
  CHECK((large[0][4000] == 4000 && large[1][0] == 4001));
}

TEST_CASE("rows of tensors become tensors again") {
  const floats images({5, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
  const auto rows = ds::from_slices(images, std::vector<std::string>{"a", "b", "c", "d", "e"});
  for (const auto& data : {rows, unnumbered(rows)}) {
    const auto batches = all(data.batch(3));
    REQUIRE(batches.size() == 2);
    CHECK(std::get<0>(batches[0]) == floats(images.rows(0, 3)));
    CHECK(std::get<0>(batches[1]) == floats(images.rows(3, 5)));
    CHECK(std::get<1>(batches[1]) == std::vector<std::string>{"d", "e"});
    CHECK(all(data.batch(3).unbatch()) == all(data));
  }
  const auto pairs = ds::range(4).map([](number x) { return std::pair(x, x > 1); }).batch(4);
  const auto [x, large] = pairs.iterator().next();
  CHECK(x == tg::tensor<number>({4}, {0, 1, 2, 3}));
  CHECK(large == tg::tensor<bool>({4}, {false, false, true, true}));
  CHECK(all(ds::from_tensors(floats({1, 1, 1, 1, 1, 1})).batch(1).ignore_errors()).empty());
}

TEST_CASE("a batch of different shapes says which element differs", "[scenario 128]") {
  for (const auto& data : {of_shapes({{3}, {3}, {4}, {3}}), unnumbered(of_shapes({{3}, {3}, {4}, {3}}))}) {
    auto pass = data.batch(3).iterator();
    CHECK(
        text_of([&] { (void)pass.next(); }) ==
        "InvalidArgument: a batch needs elements of one shape: component 0 of the first element has shape [3] and that "
        "of element 2 has shape [4]");
    CHECK(pass.next().dims() == tg::shape{1, 3});
  }
}

TEST_CASE("padding goes to the largest of a batch, or to a shape that was asked for") {
  const auto data = of_shapes({{1, 2}, {2, 1}, {2, 3}});
  const auto batches = all(data.padded_batch(2));
  REQUIRE(batches.size() == 2);
  CHECK(batches[0] == floats({2, 2, 2}, {1, 2, 0, 0, 1, 0, 2, 0}));
  CHECK(batches[1] == floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto asked = all(data.padded_batch(2, {.shapes = {{3, tg::dyn}}, .values = {-1}, .drop_remainder = true}));
  REQUIRE(asked.size() == 1);
  CHECK(asked[0] == floats({2, 3, 2}, {1, 2, -1, -1, -1, -1, 1, -1, 2, -1, -1, -1}));
  const auto with_texts =
      all(ds::zip(data, ds::from_slices(std::vector<std::string>{"a", "b", "c"}), ds::range(3)).padded_batch(3));
  REQUIRE(with_texts.size() == 1);
  CHECK(std::get<0>(with_texts[0]).dims() == tg::shape{3, 2, 3});
  CHECK(std::get<1>(with_texts[0]).size() == 3);
  CHECK(std::get<2>(with_texts[0]) == tg::tensor<number>({3}, {0, 1, 2}));
  CHECK(all(of_shapes({{0}, {0}}).padded_batch(2)).front().dims() == tg::shape{2, 0});
  const auto flags = ds::range(3).map([](std::int64_t i) { return i != 1; }).padded_batch(3);
  CHECK(all(flags).front()[0]);
  CHECK(!all(flags).front()[1]);
}

TEST_CASE("what is larger than the shape that was asked for, or of another rank, cannot be padded") {
  const auto data = of_shapes({{3}, {4}});
  CHECK(text_of([&] { (void)data.padded_batch(2, {.shapes = {{3}}}).iterator().next(); }) ==
        "DataLoss: component 0 of element 1 of a batch has shape [4], which is larger than [3]");
  CHECK(code_of([&] {
          (void)data.padded_batch(2, {.shapes = {{4, 1}}}).iterator().next();
        }) == status_code::invalid_argument);
  CHECK(code_of([&] {
          (void)of_shapes({{3}, {4, 1}}).padded_batch(2).iterator().next();
        }) == status_code::invalid_argument);
}

template <class T>
void pads_with(std::vector<double> values, std::vector<double> others, const std::string& type) {
  const auto one = ds::range(1, 3).map([](number i) { return tg::tensor<T>({i}); });
  const auto two = one.map([](const tg::tensor<T>& t) { return std::pair(number{1}, t); });
  for (const double x : values) {
    CAPTURE(type, x);
    const tg::tensor<T> rows = one.padded_batch(2, {.values = {x}}).iterator().next();
    CHECK(((x != x && rows[1] != rows[1]) || rows[1] == static_cast<T>(x)));
    CHECK(std::get<1>(two.padded_batch(2, {.values = {0, x}}).iterator().next()) == rows);
  }
  for (const double x : others) {
    CAPTURE(x);
    CHECK_THAT(text_of([&] { (void)one.padded_batch(2, {.values = {x}}); }),
               Catch::StartsWith("InvalidArgument: padded_batch: component 0 is " + type + ", which has no "));
    CHECK_THAT(text_of([&] {
                 (void)two.padded_batch(2, {.values = {0, x}});
               }),
               Catch::StartsWith("InvalidArgument: padded_batch: component 1 is " + type + ", which has no "));
  }
}

TEST_CASE("what a type has no value for is nothing to pad with") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  pads_with<std::uint8_t>({0, 255}, {-1, 256, 0.5, nan, inf}, "uint8");
  pads_with<std::int8_t>({-128, 127}, {-129, 128, 300, -0.5}, "int8");
  pads_with<std::int16_t>({-32768, 32767}, {-32769, 32768, 1e9}, "int16");
  pads_with<std::int32_t>({-2147483648.0, 2147483647}, {-2147483649.0, 2147483648.0}, "int32");
  pads_with<number>({-0x1p63, 0x1p62}, {0x1p63, -0x1.1p63, 0.5, nan, -inf}, "int64");
  pads_with<bool>({0, 1}, {2, -1, 0.5}, "bool");
  pads_with<float>({-1, 0.1, inf, 3e38}, {1e39, -1e300}, "float32");
  pads_with<double>({1e300, -inf}, {}, "float64");
  pads_with<tg::float16>({65504, -inf}, {65536, -1e9}, "float16");
  pads_with<tg::bfloat16>({-1, 3e38, inf}, {1e39}, "bfloat16");
  const auto bytes = ds::range(3).map([](number i) { return tg::tensor<std::uint8_t>({i}); });
  CHECK(text_of([&] { (void)bytes.padded_batch(3, {.values = {-1.5}}); }) ==
        "InvalidArgument: padded_batch: component 0 is uint8, which has no -1.5 to pad with");
  CHECK(text_of([&] {
          (void)bytes.padded_batch(3, {.values = {7, 8, 9}});
        }) == "InvalidArgument: padded_batch: 0 shapes and 3 values for elements of 1 component");
  CHECK(text_of([&] {
          (void)ds::zip(bytes, bytes).padded_batch(3, {.shapes = {{4}, {4}, {4}}});
        }) == "InvalidArgument: padded_batch: 3 shapes and 0 values for elements of 2 components");
}

TEST_CASE("rows come out of elements that have as many of each component") {
  const auto bad =
      ds::range(3).map([](number n) { return std::tuple(floats({n}), std::vector<number>(1, n)); }).unbatch();
  auto pass = bad.iterator();
  CHECK(text_of([&] { (void)pass.next(); }) == "InvalidArgument: component 0 has 0 rows, and component 1 has 1");
  CHECK(std::get<1>(pass.next()) == 1);
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::invalid_argument);
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::out_of_range);
  CHECK(code_of([] { (void)ds::from_tensors(floats(1.0f)).unbatch().iterator().next(); }) ==
        status_code::invalid_argument);
  CHECK(all(of_shapes({{0}, {2}, {0}, {1}}).unbatch()) == std::vector<floats>{1.0f, 2.0f, 1.0f});
  CHECK(all(of_shapes({{3}, {2}}).unbatch().skip(4)) == std::vector<floats>{2.0f});
}

}  // namespace
