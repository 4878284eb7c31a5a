// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/number.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

using tagma::io::number_from;
using tagma::io::read_number;

namespace {

template <class T>
bool is(const std::string& text, T expected) {
  T value{};
  return number_from(text, value) &&
         std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value) ==
             std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(expected);
}

/// The C library rounds correctly, and the tests run in the locale "C".
bool agrees(const std::string& text) {
  return is(text, std::strtod(text.c_str(), nullptr)) && is(text, std::strtof(text.c_str(), nullptr));
}

template <class T>
std::size_t length_of(std::string_view text) {
  T value{};
  const char* const end = read_number(text.data(), text.data() + text.size(), value);
  return end == nullptr ? 0 : static_cast<std::size_t>(end - text.data());
}

}  // namespace

TEST_CASE("floating numbers are rounded to the nearest") {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "-1.5",
                           ".5",
                           "5.",
                           "0.1",
                           "3.14159265358979323846264338327950288",
                           "1e23",
                           "8.5e22",
                           "1e22",
                           "123456789012345678",
                           "12345678901234567890",
                           "9007199254740993",
                           "9007199254740992.9",
                           "9007199254740993.0",
                           "9007199254740993.00000000000000000000000000000001",
                           "9007199254740992.99999999999999999999999",
                           "16777217",
                           "16777217.0000000000000000000000000000000000001",
                           "16777216.99999999999999999999999999",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-400",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "1e309",
                           "-1e999999999999999999999",
                           "1e-999999999999999999999",
                           "0e999999",
                           "3.4028235e38",
                           "3.4028236e38",
                           "1.401298464324817e-45",
                           "7.006492321624085e-46",
                           "7.0064923216240862e-46",
                           "1.1754943508222875e-38",
                           "1.17549429e-38",
                           "000000000000000000000000000000001.5",
                           "0.000000000000000000000000000000000000000000000015",
                           "100000000000000000000000000000000000000000000e-44",
                           "1E5",
                           "1e+5",
                           "1e0000000000000000000000005",
                           "7.1206e-322",
                           "6.631236846766476e-316",
                           "2.2250738585072012e-308",
                           "1090544144181609348671888949248"}) {
    CAPTURE(text);
    CHECK(agrees(text));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* text : {"inf", "INF", "Infinity", "iNfInItY"}) CHECK(is(text, infinity));
  CHECK(is("-inf", -infinity));
  double value = 0;
  CHECK(number_from("NaN", value));
  CHECK(std::isnan(value));
}

TEST_CASE("random floating numbers are read as the C library reads them") {
  std::mt19937_64 random(1);
  const auto digits = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t n = 1 + random() % most; n > 0; --n) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int i = 0; i < 200'000; ++i) {
    char text[64];
    const auto any = std::bit_cast<double>(random());
    const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    std::snprintf(text, sizeof text, "%.*g", static_cast<int>(1 + random() % 20), any);
    if (std::isfinite(any)) REQUIRE(agrees(text));
    std::snprintf(text, sizeof text, "%.*g", static_cast<int>(1 + random() % 20), static_cast<double>(small));
    if (std::isfinite(small)) REQUIRE(agrees(text));
    std::string made = digits(25);
    if (random() % 2 == 0) made += "." + digits(25);
    if (random() % 2 == 0) made += (random() % 2 == 0 ? "e" : "e-") + std::to_string(random() % 350);
    CAPTURE(made);
    REQUIRE(agrees(made));
  }
}

TEST_CASE("numbers halfway between two are read as the C library reads them") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto low = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x7f000000));
    const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
    char text[256];
    std::snprintf(text, sizeof text, "%.*e", 160, (static_cast<double>(low) + static_cast<double>(high)) / 2);
    REQUIRE(agrees(text));
    const auto shortest = static_cast<int>(random() % 30);
    std::snprintf(text, sizeof text, "%.*e", shortest, (static_cast<double>(low) + static_cast<double>(high)) / 2);
    REQUIRE(agrees(text));
    const std::uint64_t whole = (std::uint64_t{1} << 53) + random() % (std::uint64_t{1} << 53);
    REQUIRE(agrees(std::to_string(whole)));
    REQUIRE(agrees(std::to_string(whole / 2) + (whole % 2 == 0 ? ".5" : ".500000000000000000001")));
  }
}

TEST_CASE("a number ends where it ends") {
  CHECK(length_of<double>("1.5,2") == 3);
  CHECK(length_of<double>("1e,2") == 1);
  CHECK(length_of<double>("1e+") == 1);
  CHECK(length_of<double>("1.2.3") == 3);
  CHECK(length_of<double>("0x10") == 1);
  CHECK(length_of<double>("nanny") == 3);
  CHECK(length_of<double>("12345678x") == 8);
  for (const char* text : {"", "-", "+1", " 1", ".", "-.", "e5", "x", "in", "--1", "."}) {
    CAPTURE(text);
    CHECK(length_of<double>(text) == 0);
    CHECK(length_of<float>(text) == 0);
    CHECK(length_of<std::int64_t>(text) == 0);
  }
  double value = 0;
  CHECK_FALSE(number_from("1 ", value));
  CHECK_FALSE(number_from("", value));
}

TEST_CASE("integers are those that their type holds") {
  std::int32_t small = 0;
  CHECK((number_from("-2147483648", small) && small == INT32_MIN));
  CHECK((number_from("007", small) && small == 7));
  CHECK_FALSE(number_from("2147483648", small));
  CHECK_FALSE(number_from("1.0", small));
  std::int64_t large = 0;
  CHECK((number_from("9223372036854775807", large) && large == INT64_MAX));
  CHECK_FALSE(number_from("9223372036854775808", large));
}
