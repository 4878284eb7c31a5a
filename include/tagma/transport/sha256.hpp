// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), with which two ends prove to each other that they know a secret.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tagma/base/config.hpp"

namespace tagma::transport {

using digest = std::array<std::uint8_t, 32>;

namespace detail {

/// Takes blocks of 64 bytes into the state of a digest; by any processor, and by those that have instructions for it.
/// @{
void sha256_blocks(std::uint32_t* state, const unsigned char* bytes, std::size_t count);
#if defined(__x86_64__)
void sha256_blocks_by_processor(std::uint32_t* state, const unsigned char* bytes, std::size_t count);
#endif
[[nodiscard]] bool processor_has_sha256();
/// @}

}  // namespace detail

/// Takes bytes, and then gives their digest.
class sha256 {
 public:
  sha256& add(std::string_view bytes);
  /// What was added. Nothing may be added any more.
  [[nodiscard]] digest result();

 private:
  void blocks(const unsigned char* bytes, std::size_t count);

  std::array<std::uint32_t, 8> state_{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  std::array<unsigned char, 64> waiting_{};
  std::uint64_t size_ = 0;
};

/// A digest that only those who have the key can make.
class hmac_sha256 {
 public:
  explicit hmac_sha256(std::string_view key);
  hmac_sha256& add(std::string_view bytes);
  [[nodiscard]] digest result();

 private:
  sha256 inner_, outer_;
};

/// Whether two texts are equal, in a time that depends on their lengths alone.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

[[nodiscard]] inline std::string_view bytes_of(const digest& d) {
  return {reinterpret_cast<const char*>(d.data()), d.size()};
}

/// Fills memory with random bytes of the system that nobody can guess. Throws `unavailable` if there are none.
void draw_random_bytes(void* to, std::size_t size);

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/sha256.ipp"
#endif
