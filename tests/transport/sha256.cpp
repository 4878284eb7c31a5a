// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/sha256.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

using tagma::transport::bytes_of;
using tagma::transport::equal_in_constant_time;
using tagma::transport::hmac_sha256;
using tagma::transport::sha256;

namespace {

std::string hex(const tagma::transport::digest& d) {
  std::string text;
  for (const std::uint8_t byte : d) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha(std::string_view bytes) { return hex(sha256().add(bytes).result()); }
std::string hmac(std::string_view key, std::string_view bytes) { return hex(hmac_sha256(key).add(bytes).result()); }

}  // namespace

TEST_CASE("SHA-256 has the digests of FIPS 180-4's examples") {
  CHECK(sha("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(
      sha("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopq"
          "rstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(sha(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 takes bytes in any pieces, at every length around a block") {
  for (std::size_t size = 0; size < 200; ++size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 7);
    sha256 pieces;
    for (std::size_t i = 0; i < size; i += 1 + i % 13) pieces.add(std::string_view(text).substr(i, 1 + i % 13));
    REQUIRE(hex(pieces.result()) == sha(text));
  }
}

TEST_CASE("SHA-256 is the same with the instructions of the processor, and without") {
  if (!tagma::transport::detail::processor_has_sha256()) {
    WARN("skipped: this processor has none");
    return;
  }
#if defined(__x86_64__)
  std::uint32_t seed = 1;
  for (std::size_t count = 0; count < 20; ++count) {
    std::vector<unsigned char> bytes(64 * count);
    for (unsigned char& b : bytes) b = static_cast<unsigned char>((seed = seed * 1664525u + 1013904223u) >> 24);
    std::array<std::uint32_t, 8> a{}, b{};
    for (std::size_t i = 0; i < 8; ++i) a[i] = b[i] = seed = seed * 1664525u + 1013904223u;
    tagma::transport::detail::sha256_blocks(a.data(), bytes.data(), count);
    tagma::transport::detail::sha256_blocks_by_processor(b.data(), bytes.data(), count);
    REQUIRE(a == b);
  }
#endif
}

TEST_CASE("HMAC-SHA256 has the digests of RFC 4231") {
  CHECK(hmac(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  CHECK(hmac(counting, std::string(50, '\xcd')) == "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac(std::string(131, '\xaa'),
             "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
             "hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("texts are equal or not") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK(!equal_in_constant_time("abc", "abd"));
  CHECK(!equal_in_constant_time("abc", "bbc"));
  CHECK(!equal_in_constant_time("abc", "ab"));
}

TEST_CASE("random bytes differ") {
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i) {
    tagma::transport::digest d{};
    tagma::transport::draw_random_bytes(d.data(), d.size());
    drawn.insert(std::string(bytes_of(d)));
  }
  CHECK(drawn.size() == 100);
}
