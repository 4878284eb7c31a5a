// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/crc32c.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>

using namespace tagma::io;
using namespace std::string_literals;

TEST_CASE("CRC-32C has the known values") {
  // RFC 3720, B.4, and the check value of the catalogue of CRC algorithms
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  std::string counting;
  for (char c = 0; c < 32; ++c) counting += c;
  CHECK(crc32c(counting) == 0x46dd794eu);
  CHECK(crc32c(std::string(counting.rbegin(), counting.rend())) == 0x113fdb5cu);
  CHECK(mask_crc(crc32c("123456789")) == 0xc78ab0e5u);
  CHECK(mask_crc(crc32c("\x1a\x11"
                        "CRC test, one two")) == 0x5794d08au);
  CHECK(mask_crc(crc32c("\0\0\0\0\0\0\0\0"s)) == 0x07980329u);
  CHECK(detail::extend_crc32(detail::extend_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
}

TEST_CASE("a checksum of parts is that of the whole, by tables and by the processor") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 100, '\0');
    for (char& c : text) c = static_cast<char>(random());
    std::uint32_t bitwise = ~0u;
    for (const char c : text) {
      bitwise ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) bitwise = (bitwise >> 1) ^ ((bitwise & 1) != 0 ? 0x82f63b78u : 0);
    }
    CHECK(crc32c(text) == ~bitwise);
    CHECK(detail::crc32c_by_tables(0, text.data(), text.size()) == ~bitwise);
    const std::size_t cut = text.empty() ? 0 : random() % text.size();
    CHECK(extend_crc32c(crc32c(text.substr(0, cut)), text.data() + cut, text.size() - cut) == ~bitwise);
    CHECK(unmask_crc(mask_crc(~bitwise)) == ~bitwise);
  }
}

TEST_CASE("a checksum of many bytes is that of its parts, by tables and in lanes") {
  std::mt19937 random(12);
  for (int round = 0; round < 60; ++round) {
    std::string text(random() % 20'000, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::uint32_t whole = detail::crc32c_by_tables(7, text.data(), text.size());
    CHECK(extend_crc32c(7, text.data(), text.size()) == whole);
    const std::size_t cut = text.empty() ? 0 : random() % text.size();
    CHECK(extend_crc32c(extend_crc32c(7, text.data(), cut), text.data() + cut, text.size() - cut) == whole);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) CHECK(detail::crc32c_by_processor(7, text.data(), text.size()) == whole);
    if (detail::has_vectors_for_crc() && text.size() >= 256)
      CHECK(detail::crc32c_by_vectors(7, text.data(), text.size()) == whole);
#endif
  }
}

#if defined(__x86_64__)
TEST_CASE("vectors give the checksum of any length and place") {
  if (!detail::has_vectors_for_crc()) return;
  std::mt19937 random(13);
  std::string text(2000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (std::size_t first = 0; first < 70; first += 7)
    for (std::size_t size = 256; size < 1400; size += size < 600 ? 1 : 37)
      REQUIRE(detail::crc32c_by_vectors(static_cast<std::uint32_t>(size), text.data() + first, size) ==
              detail::crc32c_by_tables(static_cast<std::uint32_t>(size), text.data() + first, size));
}
#endif
