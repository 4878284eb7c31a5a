// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/wire.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>

#include "support/bytes_of_hex.hpp"

namespace wire = tagma::io::wire;
using tagma::test::bytes_of_hex;

namespace {
bool is_good(std::string_view message) {
  wire::reader in(message);
  for (wire::field f; in.next(f);) {
  }
  return in.good();
}
}  // namespace

TEST_CASE("varints have one to ten bytes") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random() >> random() % 64;
    std::string bytes;
    wire::put_varint(bytes, value);
    CHECK(bytes.size() == (value == 0 ? 1u : (64u - static_cast<unsigned>(__builtin_clzll(value)) + 6) / 7));
    std::string_view left = bytes;
    std::uint64_t found = 0;
    CHECK(wire::take_varint(left, found));
    CHECK(found == value);
    CHECK(left.empty());
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      left = std::string_view(bytes).substr(0, n);
      CHECK_FALSE(wire::take_varint(left, found));
    }
  }
  std::string minus_one;
  wire::put_varint(minus_one, ~std::uint64_t{0});
  CHECK(minus_one == bytes_of_hex("ff ff ff ff ff ff ff ff ff 01"));
  for (const char* hex : {"ff ff ff ff ff ff ff ff ff 02", "80 80 80 80 80 80 80 80 80 80 01"}) {
    const std::string bytes = bytes_of_hex(hex);
    std::string_view left = bytes;
    std::uint64_t value = 0;
    CHECK_FALSE(wire::take_varint(left, value));
  }
}

TEST_CASE("fields of every type are read") {
  const std::string message =
      bytes_of_hex("08 96 01  12 02 68 69  19 01 02 03 04 05 06 07 08  25 00 00 80 3f  fa 01 00");
  wire::reader in(message);
  wire::field f;
  REQUIRE(in.next(f));
  CHECK((f.number == 1 && f.type == wire::type::varint && f.value == 150 && f.raw == bytes_of_hex("96 01")));
  REQUIRE(in.next(f));
  CHECK((f.number == 2 && f.type == wire::type::bytes && f.raw == "hi"));
  REQUIRE(in.next(f));
  CHECK((f.number == 3 && f.type == wire::type::fixed64 && f.value == 0x0807060504030201u));
  REQUIRE(in.next(f));
  CHECK((f.number == 4 && f.type == wire::type::fixed32 && f.value == 0x3f800000u && f.raw.size() == 4));
  REQUIRE(in.next(f));
  CHECK((f.number == 31 && f.raw.empty()));
  CHECK_FALSE(in.next(f));
  CHECK(in.good());
}

TEST_CASE("damaged messages are told from ended ones") {
  CHECK(is_good(""));
  for (const char* hex : {"08", "08 80", "12 03 68 69", "12 ff ff ff ff ff ff ff ff ff 01", "19 01 02", "25 00",
                          "00 00", "0b", "0c", "0e 00", "0f 00", "80 80 80 80 80 01 00", "88"}) {
    CAPTURE(hex);
    CHECK_FALSE(is_good(bytes_of_hex(hex)));
  }
}
