// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sha256.hpp: in the compiled half, or else in each file that includes it.

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/sha256.hpp"

namespace tagma::transport {

namespace detail {

/// The first 32 bits behind the point of the cube roots of the first 64 primes.
TAGMA_DECL constexpr std::uint32_t sha256_constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

TAGMA_DECL void sha256_blocks(std::uint32_t* state, const unsigned char* bytes, std::size_t count) {
  for (; count > 0; --count, bytes += 64) {
    std::uint32_t w[64];
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = std::uint32_t{bytes[4 * i]} << 24 | std::uint32_t{bytes[4 * i + 1]} << 16 |
             std::uint32_t{bytes[4 * i + 2]} << 8 | std::uint32_t{bytes[4 * i + 3]};
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    std::array<std::uint32_t, 8> s;
    std::copy_n(state, 8, s.begin());
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t turned = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const std::uint32_t first = s[7] + turned + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_constants[i] + w[i];
      const std::uint32_t second = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                                   ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) state[i] += s[i];
  }
}

#if defined(__x86_64__)
using signed_lanes [[gnu::vector_size(16)]] = int;
using unsigned_lanes [[gnu::vector_size(16)]] = unsigned;

TAGMA_DECL signed_lanes wrapped_sum(signed_lanes a, signed_lanes b) {
  return std::bit_cast<signed_lanes>(std::bit_cast<unsigned_lanes>(a) + std::bit_cast<unsigned_lanes>(b));
}

/// Two rounds an instruction, as Intel's architecture manual describes SHA256RNDS2 and its companions: the state is
/// kept as (A, B, E, F) and (C, D, G, H), from the highest lane down.
[[gnu::target("sha,sse4.1")]] TAGMA_DECL void sha256_blocks_by_processor(std::uint32_t* state,
                                                                         const unsigned char* bytes,
                                                                         std::size_t count) {
  using four = signed_lanes;
  using sixteen [[gnu::vector_size(16)]] = char;
  four low, high;
  std::memcpy(&low, state, 16), std::memcpy(&high, state + 4, 16);
  four abef = __builtin_shufflevector(low, high, 5, 4, 1, 0);
  four cdgh = __builtin_shufflevector(low, high, 7, 6, 3, 2);
  for (; count > 0; --count, bytes += 64) {
    const four abef_before = abef, cdgh_before = cdgh;
    four w[4];
    for (std::size_t i = 0; i < 4; ++i) {
      sixteen b;
      std::memcpy(&b, bytes + 16 * i, 16);
      b = __builtin_shufflevector(b, b, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
      std::memcpy(&w[i], &b, 16);
    }
    for (std::size_t i = 0; i < 16; ++i) {
      four constants;
      std::memcpy(&constants, sha256_constants + 4 * i, 16);
      four& now = w[i % 4];
      four sum = wrapped_sum(now, constants);
      cdgh = __builtin_ia32_sha256rnds2(cdgh, abef, sum);
      sum = __builtin_shufflevector(sum, sum, 2, 3, 0, 0);
      abef = __builtin_ia32_sha256rnds2(abef, cdgh, sum);
      if (i >= 12) continue;
      const four &next = w[(i + 1) % 4], &later = w[(i + 2) % 4], &last = w[(i + 3) % 4];
      now = wrapped_sum(__builtin_ia32_sha256msg1(now, next), __builtin_shufflevector(later, last, 1, 2, 3, 4));
      now = __builtin_ia32_sha256msg2(now, last);
    }
    abef = wrapped_sum(abef, abef_before), cdgh = wrapped_sum(cdgh, cdgh_before);
  }
  low = __builtin_shufflevector(abef, cdgh, 3, 2, 7, 6);
  high = __builtin_shufflevector(abef, cdgh, 1, 0, 5, 4);
  std::memcpy(state, &low, 16), std::memcpy(state + 4, &high, 16);
}
#endif

TAGMA_DECL bool processor_has_sha256() {
#if defined(__x86_64__)
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("sse4.1") != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1u) != 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace detail

TAGMA_DECL void sha256::blocks(const unsigned char* bytes, std::size_t count) {
#if defined(__x86_64__)
  if (detail::processor_has_sha256()) return detail::sha256_blocks_by_processor(state_.data(), bytes, count);
#endif
  detail::sha256_blocks(state_.data(), bytes, count);
}

TAGMA_DECL sha256& sha256::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t at = size_ % 64;
    std::size_t n = std::min(bytes.size(), 64 - at);
    if (at == 0 && bytes.size() >= 64) {
      n = bytes.size() / 64 * 64;
      blocks(reinterpret_cast<const unsigned char*>(bytes.data()), n / 64);
    } else {
      std::memcpy(waiting_.data() + at, bytes.data(), n);
      if (at + n == 64) blocks(waiting_.data(), 1);
    }
    size_ += n;
    bytes.remove_prefix(n);
  }
  return *this;
}

TAGMA_DECL digest sha256::result() {
  const std::uint64_t bits = size_ * 8;
  add(std::string_view("\x80", 1));
  while (size_ % 64 != 56) add(std::string_view("\0", 1));
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  add({length, 8});
  digest d{};
  for (std::size_t i = 0; i < 32; ++i) d[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return d;
}

TAGMA_DECL hmac_sha256::hmac_sha256(std::string_view key) {
  std::array<unsigned char, 64> block{};
  if (key.size() > block.size()) {
    const digest d = sha256().add(key).result();
    std::memcpy(block.data(), d.data(), d.size());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  for (unsigned char& c : block) c ^= 0x36u;
  inner_.add({reinterpret_cast<const char*>(block.data()), block.size()});
  for (unsigned char& c : block) c ^= 0x36u ^ 0x5cu;
  outer_.add({reinterpret_cast<const char*>(block.data()), block.size()});
}

TAGMA_DECL hmac_sha256& hmac_sha256::add(std::string_view bytes) {
  inner_.add(bytes);
  return *this;
}

TAGMA_DECL digest hmac_sha256::result() {
  const digest d = inner_.result();
  return outer_.add(bytes_of(d)).result();
}

TAGMA_DECL bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs = static_cast<unsigned char>(differs | static_cast<unsigned char>(a[i] ^ b[i]));
  return differs == 0;
}

TAGMA_DECL void draw_random_bytes(void* to, std::size_t size) {
  auto* at = static_cast<unsigned char*>(to);
  while (size > 0) {
    const ssize_t n = getrandom(at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(status_code::unavailable, {"the system gives no random bytes: ", std::strerror(errno)});
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

}  // namespace tagma::transport
