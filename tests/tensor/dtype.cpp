// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/dtype.hpp"

#include <catch2/catch.hpp>
#include <compare>
#include <concepts>
#include <tuple>

namespace {

namespace tg = tagma;

static_assert(std::regular<tg::no_value> && std::totally_ordered<tg::no_value>);
static_assert(std::regular<std::tuple<float, tg::no_value>> &&
              std::three_way_comparable<std::tuple<int, tg::no_value>>);

TEST_CASE("results that have no value are equal, and so are lists of results with them") {
  CHECK(tg::no_value{} == tg::no_value{});
  CHECK_FALSE(tg::no_value{} < tg::no_value{});
  CHECK(std::tuple(1.5f, tg::no_value{}) == std::tuple(1.5f, tg::no_value{}));
  CHECK(std::tuple(1.5f, tg::no_value{}) != std::tuple(2.5f, tg::no_value{}));
}

}  // namespace
