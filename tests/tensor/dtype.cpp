// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/dtype.hpp"

#include <catch2/catch.hpp>
#include <compare>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace {

namespace tg = tagma;

static_assert(std::regular<tg::no_value> && std::totally_ordered<tg::no_value>);
static_assert(std::regular<std::tuple<float, tg::no_value>> &&
              std::three_way_comparable<std::tuple<int, tg::no_value>>);

// The table, by its two ends: ids by their types, and types, sizes, kinds and names by their ids.
static_assert(tg::dtype_of<double> == tg::dtype::float64 && tg::dtype_of<bool> == tg::dtype::boolean &&
              tg::dtype_of<tg::bfloat16> == tg::dtype::bfloat16 && tg::dtype_of<std::string_view> == tg::dtype::string);
static_assert(tg::dtype_of<unsigned> == tg::dtype::none && tg::dtype_of<const float> == tg::dtype::none);
static_assert(std::is_same_v<tg::element_of<tg::dtype::int16>, std::int16_t>);
static_assert(tg::size_of(tg::dtype::none) == 0 && tg::size_of(tg::dtype::float16) == 2 &&
              tg::size_of(tg::dtype::int64) == 8 && tg::size_of(tg::dtype::string) == sizeof(std::string_view));
static_assert(tg::to_string(tg::dtype::boolean) == "bool" && tg::to_string(tg::dtype::bfloat16) == "bfloat16");
static_assert(tg::is_floating(tg::dtype::bfloat16) && !tg::is_floating(tg::dtype::int8) &&
              !tg::is_floating(tg::dtype::none));
static_assert(tg::is_integer(tg::dtype::uint8) && !tg::is_integer(tg::dtype::boolean) &&
              !tg::is_numeric(tg::dtype::string));

TEST_CASE("a function is called with the type of a number, and with none for what is no number") {
  for (std::size_t i = 0; i < tg::detail::dtype_count; ++i) {
    const auto type = static_cast<tg::dtype>(i);
    INFO(tg::to_string(type));
    int calls = 0;
    tg::with_number_type(type, [&]<class T>(const T&) {
      ++calls;
      CHECK(tg::dtype_of<T> == type);
      CHECK(sizeof(T) == tg::size_of(type));
    });
    CHECK(calls == (type == tg::dtype::none || type == tg::dtype::string ? 0 : 1));
  }
}

TEST_CASE("results that have no value are equal, and so are lists of results with them") {
  CHECK(tg::no_value{} == tg::no_value{});
  CHECK_FALSE(tg::no_value{} < tg::no_value{});
  CHECK(std::tuple(1.5f, tg::no_value{}) == std::tuple(1.5f, tg::no_value{}));
  CHECK(std::tuple(1.5f, tg::no_value{}) != std::tuple(2.5f, tg::no_value{}));
}

}  // namespace
