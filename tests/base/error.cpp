// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/error.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

TEST_CASE("a sentence is texts and whole numbers, these with the sign that they have") {
  const std::string one = "one";
  CHECK(tagma::sentence({one, " and ", std::string_view("two!").substr(0, 3), ""}) == "one and two");
  CHECK(tagma::sentence({UINT64_MAX, " ", INT64_MIN, " ", std::uint64_t{1} << 63, " ", -1, " ", true, " ", 7u}) ==
        "18446744073709551615 -9223372036854775808 9223372036854775808 -1 1 7");
}
