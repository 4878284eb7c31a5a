// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of number.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/number.hpp"

namespace tagma::io::detail {

TAGMA_DECL const powers_of_five& powers_of_five::table() {
  static const powers_of_five made;
  return made;
}

TAGMA_COLD TAGMA_DECL powers_of_five::powers_of_five() {
  number power = {1};
  for (int q = 0; q <= -smallest; ++q) {
    if (q <= largest) entries_[q - smallest] = upper_bits(power);
    if (q > 0) entries_[-q - smallest] = reciprocal(power, q <= 27);
    std::uint64_t carry = 0;
    for (std::uint32_t& word : power) {
      carry += std::uint64_t{word} * 5;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
}

TAGMA_DECL int powers_of_five::bits_of(const number& n) {
  int top = words - 1;
  while (top > 0 && n[top] == 0) --top;
  return top * 32 + 32 - std::countl_zero(n[top]);
}

TAGMA_DECL powers_of_five::entry powers_of_five::upper_bits(const number& n) {
  entry e{};
  int at = bits_of(n) - 1;
  for (int i = 0; i < 128; ++i, --at) append_bit(e, at >= 0 && (n[at / 32] >> (at % 32) & 1) != 0);
  return e;
}

TAGMA_DECL powers_of_five::entry powers_of_five::reciprocal(const number& n, bool round_up) {
  entry e{};
  number rest{};
  const int z = bits_of(n);
  rest[(z - 1) / 32] = std::uint32_t{1} << ((z - 1) % 32);
  for (int i = 0; i < 128; ++i) {
    for (int w = words - 1; w > 0; --w) rest[w] = rest[w] << 1 | rest[w - 1] >> 31;
    rest[0] <<= 1;
    int w = words - 1;
    while (w > 0 && rest[w] == n[w]) --w;
    const bool fits = rest[w] >= n[w];
    append_bit(e, fits);
    if (!fits) continue;
    std::int64_t borrow = 0;
    for (w = 0; w < words; ++w) {
      borrow += std::int64_t{rest[w]} - std::int64_t{n[w]};
      rest[w] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
  }
  if (round_up && ++e.low == 0) ++e.high;
  return e;
}

TAGMA_DECL void powers_of_five::append_bit(entry& e, bool bit) {
  e.high = e.high << 1 | e.low >> 63;
  e.low = e.low << 1 | (bit ? 1u : 0u);
}

TAGMA_DECL wide_product multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

}  // namespace tagma::io::detail
