// SPDX-License-Identifier: BSL-1.0
#include "tagma/datasets.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
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
