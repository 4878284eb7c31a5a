// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/view.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <type_traits>

#include "support/errors.hpp"

using tagma::shape;
using tagma::view;
using tagma::test::thrown;

static_assert(tagma::count_elements({}) == 1);
static_assert(tagma::count_elements({2, 3}) == 6);
static_assert(tagma::count_elements({2, 0, INT64_MAX}) == 0);
static_assert(tagma::count_elements({INT64_MAX, 2}) == -1);
static_assert(tagma::count_elements({INT64_MAX}) == INT64_MAX);
static_assert(tagma::count_elements({INT64_MAX}, 4) == -1);
static_assert(tagma::count_elements({INT64_MAX / 4}, 4) == INT64_MAX / 4);
static_assert(tagma::count_elements({2, tagma::dyn}) == -1);
static_assert(tagma::count_elements({0, tagma::dyn}) == -1);

static_assert(std::is_convertible_v<view<float>, view<const float>>);
static_assert(!std::is_convertible_v<view<const float>, view<float>>);
static_assert(!std::is_convertible_v<view<double>, view<const float>>);
static_assert(std::is_trivially_copyable_v<view<float>>);

namespace {}  // namespace

TEST_CASE("a view reads and writes the memory it shows, row by row") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const view<float> v(memory, {2, 3});
  CHECK(v.size() == 6);
  CHECK_FALSE(v.empty());
  CHECK(v.dims() == shape{2, 3});
  CHECK(v(1, 0) == 3.0f);
  CHECK(v(0, 2) == v[2]);
  v(1, 2) = 9.0f;
  CHECK(memory[5] == 9.0f);
  CHECK(v.span().data() == memory);
  CHECK(v.end() - v.begin() == 6);

  float one = 4;
  CHECK(view<float>(&one, {})() == 4.0f);
  CHECK(view<float>().empty());
  CHECK(view<float>().dims() == shape{0});
}

TEST_CASE("an index outside its axis and a wrong number of indices are errors") {
  float memory[6] = {};
  const view<float> v(memory, {2, 3});
  const auto outside = thrown([&] { (void)v(0, 3); });
  CHECK(outside.code() == tagma::status_code::out_of_range);
  CHECK(std::string(outside.what()) == "OutOfRange: index 3 is outside axis 1 of a tensor of shape [2, 3]");
  CHECK(thrown([&] { (void)v(-1, 0); }).code() == tagma::status_code::out_of_range);
  CHECK(thrown([&] { (void)v(2, 0); }).code() == tagma::status_code::out_of_range);
  const auto rank = thrown([&] { (void)v(1); });
  CHECK(rank.code() == tagma::status_code::invalid_argument);
  CHECK(std::string(rank.what()) == "InvalidArgument: 1 indices for a tensor of shape [2, 3]");
}

TEST_CASE("rows are a view of a range of the outermost axis") {
  std::int32_t memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const view<const std::int32_t> v(memory, {4, 2});
  CHECK(v.rows(1, 3).dims() == shape{2, 2});
  CHECK(v.rows(1, 3).data() == memory + 2);
  CHECK(v.rows(4, 4).empty());
  CHECK(thrown([&] { (void)v.rows(3, 5); }).code() == tagma::status_code::out_of_range);
  CHECK(thrown([&] { (void)v.rows(2, 1); }).code() == tagma::status_code::out_of_range);
  CHECK(thrown([&] { (void)v.rows(-1, 1); }).code() == tagma::status_code::out_of_range);
  CHECK(thrown([&] { (void)view<const std::int32_t>(memory, {}).rows(0, 0); }).code() ==
        tagma::status_code::invalid_argument);
}

TEST_CASE("a view is reshaped only to as many elements") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const view<float> v(memory, {2, 3});
  CHECK(v.reshaped({3, 2})(2, 1) == 5.0f);
  CHECK(thrown([&] { (void)v.reshaped({4, 2}); }).code() == tagma::status_code::invalid_argument);
  CHECK(thrown([&] { (void)v.reshaped({-2, -3}); }).code() == tagma::status_code::invalid_argument);
}

TEST_CASE("views are equal if their shapes and elements are") {
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 4};
  CHECK(view<float>(a, {2, 2}) == view<float>(b, {2, 2}));
  CHECK(view<float>(a, {2, 2}) == view<const float>(b, {2, 2}));
  CHECK_FALSE(view<float>(a, {2, 2}) == view<float>(b, {4}));
  b[3] = 5;
  CHECK_FALSE(view<float>(a, {2, 2}) == view<float>(b, {2, 2}));
}

TEST_CASE("an erased view keeps type and shape and gives the typed view back") {
  const double memory[3] = {1, 2, 3};
  const tagma::raw_view raw = tagma::erase(view<const double>(memory, {3}));
  CHECK(raw.type == tagma::dtype::float64);
  CHECK(raw.bytes() == 24);
  CHECK(raw.as<double>() == view<const double>(memory, {3}));
  const auto e = thrown([&] { (void)raw.as<float>(); });
  CHECK(e.code() == tagma::status_code::invalid_argument);
  CHECK(std::string(e.what()) == "InvalidArgument: a tensor of float64 is not one of float32");
}

TEST_CASE("a view of an impossible shape is an error that names it") {
  float memory[6] = {};
  const auto negative = thrown([&] { view<float>(memory, {2, -3}); });
  CHECK(negative.code() == tagma::status_code::invalid_argument);
  CHECK(std::string(negative.what()) ==
        "InvalidArgument: a tensor cannot have shape [2, -3]: every extent is a number that is not negative");
  CHECK(thrown([&] { view<float>(memory, {-2, -3}); }).code() == tagma::status_code::invalid_argument);
  CHECK(thrown([&] { view<float>(memory, {tagma::dyn, 0}); }).code() == tagma::status_code::invalid_argument);
  CHECK(thrown([&] { view<float>(memory, {INT64_MIN}); }).code() == tagma::status_code::invalid_argument);
  const auto large = thrown([&] { view<float>(memory, {1 << 21, 1 << 21, 1 << 21}); });
  CHECK(large.code() == tagma::status_code::resource_exhausted);
  CHECK(std::string(large.what()).find("float32 [2097152, 2097152, 2097152]") != std::string::npos);
  CHECK(thrown([&] {
          view<float>(memory, {0, INT64_MAX, INT64_MAX});
        }).code() == tagma::status_code::resource_exhausted);
  CHECK(thrown([&] {
          (void)view<float>().reshaped({0, INT64_MAX, 2});
        }).code() == tagma::status_code::resource_exhausted);
}
