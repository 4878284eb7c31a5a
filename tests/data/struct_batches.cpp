// SPDX-License-Identifier: BSL-1.0
#include "tagma/struct_batches.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "support/errors.hpp"
#include "tagma/datasets.hpp"

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::test::text_of;

namespace {

struct digit {
  tg::tensor<float> image;
  std::int64_t label = 0;
  std::string name;
};
struct digits {
  tg::tensor<float> image;
  tg::tensor<std::int64_t> label;
  std::vector<std::string> name;
};
struct point {
  float x = 0;
  bool inside = false;
};
struct marked {
  point where;
  digit what;
};

digit number(std::int64_t i) {
  return {tg::tensor<float>({2}, {static_cast<float>(i), 0.5f}), i % 10, "number " + std::to_string(i)};
}
digit ragged(std::int64_t i) { return {tg::tensor<float>({i}), i, {}}; }

}  // namespace

template <>
struct tg::datasets::members<digit> {
  static auto tie(digit& d) { return std::tie(d.image, d.label, d.name); }
  using batch = digits;
};
template <>
struct tg::datasets::members<point> {
  static auto tie(point& p) { return std::tie(p.x, p.inside); }
};
template <>
struct tg::datasets::members<marked> {
  static auto tie(marked& l) { return std::tie(l.where, l.what); }
};

TEST_CASE("a batch of structs is the struct that was named") {
  const auto batches = ds::range(7).map(number).batch(3);
  STATIC_REQUIRE(std::is_same_v<decltype(batches), const tg::dataset<digits>>);
  CHECK(batches.size() == 3);
  auto pass = batches.iterator();
  const digits first = pass.next();
  CHECK(first.image == tg::tensor<float>({3, 2}, {0, 0.5f, 1, 0.5f, 2, 0.5f}));
  CHECK(first.label == tg::tensor<std::int64_t>({3}, {0, 1, 2}));
  CHECK(first.name == std::vector<std::string>{"number 0", "number 1", "number 2"});
  digits again;
  REQUIRE(pass.next(again));
  CHECK(again.label == tg::tensor<std::int64_t>({3}, {3, 4, 5}));
  REQUIRE(pass.next(again));
  CHECK(again.image.dims() == tg::shape{1, 2});
  CHECK(again.name.size() == 1);
  CHECK(!pass.next(again));
}

TEST_CASE("without a name a batch of structs is a tuple") {
  const auto points = ds::range(5).map([](std::int64_t i) { return point{static_cast<float>(i), i > 2}; });
  const auto batch = points.shuffle(5, 1).batch(5).iterator().next();
  STATIC_REQUIRE(std::is_same_v<decltype(batch), const std::tuple<tg::tensor<float>, tg::tensor<bool>>>);
  for (tg::extent i = 0; i < 5; ++i) CHECK(std::get<1>(batch)[i] == (std::get<0>(batch)[i] > 2));
}

TEST_CASE("structs in structs and in tuples") {
  const auto all = ds::range(4).map([](std::int64_t i) { return marked{{static_cast<float>(i), true}, number(i)}; });
  const auto [where, what] = all.batch(4).iterator().next();
  CHECK(std::get<0>(where) == tg::tensor<float>({4}, {0, 1, 2, 3}));
  CHECK(what.label == tg::tensor<std::int64_t>({4}, {0, 1, 2, 3}));
  const auto [numbers, inside] =
      ds::range(2).map([](std::int64_t i) { return std::pair(i, number(i)); }).batch(2).iterator().next();
  CHECK(numbers == inside.label);
}

TEST_CASE("batches of structs are padded, member by member") {
  CHECK(tg::test::code_of([&] { (void)ds::range(3).map(ragged).padded_batch(3, {.values = {1e39}}); }) ==
        tg::status_code::invalid_argument);
  const auto batch = ds::range(3).map(ragged).padded_batch(3, {.values = {7.0}}).iterator().next();
  STATIC_REQUIRE(std::is_same_v<decltype(batch), const digits>);
  CHECK(batch.image == tg::tensor<float>({3, 2}, {7, 7, 0, 7, 0, 0}));
  CHECK(batch.label == tg::tensor<std::int64_t>({3}, {0, 1, 2}));
  CHECK(text_of([] { (void)ds::range(2).map(ragged).batch(2).iterator().next(); }) ==
        "InvalidArgument: a batch needs elements of one shape: component 0 of the first element has shape [0] and that "
        "of element 1 has shape [1]");
}

TEST_CASE("passes over batches of structs go on where they were") {
  const auto batches = ds::range(20).map(number).batch(4).repeat(2);
  auto pass = batches.iterator();
  (void)pass.next(), (void)pass.next();
  auto later = batches.resume(pass.state());
  CHECK(later.next().label == pass.next().label);
  auto by_number = ds::range(20).global_shuffle(3).map(number).batch(4, true).prefetch(2).iterator();
  CHECK(by_number.next().label.dims() == tg::shape{4});
}
