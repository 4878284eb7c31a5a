// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A structural hash that the compiler and every process compute alike. Not for security.

#include <cstdint>
#include <string_view>

namespace tagma {

/// 64-bit FNV-1a of a text.
[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

/// Mixes one more value into a hash; the order of values matters. The finaliser is that of SplitMix64.
[[nodiscard]] constexpr std::uint64_t hash_combine(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) + 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

}  // namespace tagma
