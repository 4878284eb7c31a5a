// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/memory_options.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace tg = tagma;
using namespace tg::device::stream;

constexpr std::int64_t gibibyte = 1024 * mebibyte;

std::vector<int> parse(std::string_view text, int existing) {
  const auto list = parse_visible_devices(text, existing);
  return {list.begin(), list.end()};
}
tg::status_code code_of(std::string_view text, int existing) {
  try {
    static_cast<void>(parse_visible_devices(text, existing));
  } catch (const tg::error& e) {
    return e.code();
  }
  return tg::status_code::ok;
}

TEST_CASE("without a fraction a process takes what is free, less a reserve") {
  CHECK(memory_limit({}, {gibibyte, 80 * gibibyte}) == gibibyte - 225 * mebibyte);
  CHECK(memory_limit({}, {4 * gibibyte, 80 * gibibyte}) == 4 * gibibyte - 300 * mebibyte);
  CHECK(memory_limit({}, {40 * gibibyte, 80 * gibibyte}) == 38 * gibibyte);
  CHECK(memory_limit({}, {100 * mebibyte, 80 * gibibyte}) == 0);
}

TEST_CASE("a fraction is one of all that the device has, and a cap bounds both") {
  CHECK(memory_limit({.fraction = 0.25}, {gibibyte, 80 * gibibyte}) == 20 * gibibyte);
  CHECK(memory_limit({.fraction = 1}, {gibibyte, 80 * gibibyte}) == 80 * gibibyte);
  CHECK(memory_limit({.fraction = 0.25, .cap = 512}, {gibibyte, 80 * gibibyte}) == 512);
  CHECK(memory_limit({.cap = 512}, {4 * gibibyte, 80 * gibibyte}) == 512);
  CHECK(memory_limit({.fraction = 0.25, .cap = 90 * gibibyte}, {gibibyte, 80 * gibibyte}) == 20 * gibibyte);
}

TEST_CASE("fractions and caps that are none") {
  for (const double fraction : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH(memory_limit({.fraction = fraction}, {1, 1}), Catch::StartsWith("InvalidArgument: the fraction"));
  CHECK_THROWS_WITH(memory_limit({.cap = -1}, {1, 1}), Catch::Contains("a cap of -1 bytes"));
}

TEST_CASE("visible devices are numbered as they are listed") {
  CHECK(parse("5,3", 8) == std::vector<int>{5, 3});
  CHECK(parse(" 0 , 7", 8) == std::vector<int>{0, 7});
  CHECK(parse("2", 3) == std::vector<int>{2});
  CHECK(parse("", 3) == std::vector<int>{0, 1, 2});
  CHECK(parse("  ", 2) == std::vector<int>{0, 1});
  CHECK(parse("", 0).empty());
}

TEST_CASE("lists of devices that are none") {
  using tg::status_code;
  for (const char* text : {"a", "1,", ",1", "1;2", "1 2", "-1", "1,,2", "0x1", "1.5", ","}) {
    INFO(text);
    CHECK(code_of(text, 8) == status_code::invalid_argument);
  }
  CHECK(code_of("8", 8) == status_code::invalid_argument);
  CHECK(code_of("99999999999999999999", 8) == status_code::invalid_argument);
  CHECK(code_of("1,2,1", 8) == status_code::invalid_argument);
  CHECK_THROWS_WITH(parse("1,2,1", 8), Catch::Contains("has 1 twice"));
  CHECK_THROWS_WITH(parse("8", 8), Catch::Contains("has 8, where there are 8 devices"));
  const int list[] = {5, 3};
  CHECK_NOTHROW(check_visible_devices(list, 6));
  CHECK_THROWS_AS(check_visible_devices(list, 5), tg::error);
}

}  // namespace
