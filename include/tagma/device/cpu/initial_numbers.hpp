// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Initial values that are uniform numbers, many at once: as `runtime::initial_number`, bit for bit.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/base/random_blocks.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/runtime/initial_value.hpp"

namespace tagma::device::cpu {

/// Uniform numbers, each with a block of its own.
struct uniform_numbers {
#if TAGMA_HAS_F16C  // no loop is compiled without AVX2
  typedef double doubles __attribute__((vector_size(32)));
  typedef float floats __attribute__((vector_size(16)));

  TAGMA_INLINE static void put(float* to, double a, double b, const tagma::detail::four_blocks& made) {
    // As uniform01, in two parts, without rounding. Behind 2^52 words are the last bits of a number.
    const auto high = (made.b & 0xffffffffu) | 0x4330000000000000u,
               low = (made.a & 0xffffffffu) >> 11 | 0x4330000000000000u;
    doubles part =
        (__builtin_bit_cast(doubles, high) - 0x1p52) * 0x1p-32 + (__builtin_bit_cast(doubles, low) - 0x1p52) * 0x1p-53;
    part *= b - a;
    TAGMA_ROUND(part);
    const floats all = __builtin_convertvector(part + a, floats);
    __builtin_memcpy(to, &all, sizeof all);
  }
#endif
  /// @param count a multiple of 8
  TAGMA_INLINE static void run(float* to, double a, double b, const random_key* key, std::uint64_t first,
                               std::int64_t count) {
    for (float* const end = to + count; to < end; to += 8, first += 8) {
#if TAGMA_HAS_F16C
      tagma::detail::four_blocks one(*key, first, 0), other(*key, first + 4, 0);
      tagma::detail::ten_rounds(*key, one, other);
      put(to, a, b, one);
      put(to + 4, a, b, other);
#else
      std::uint32_t words[32];
      random_blocks<8>(*key, first, 0, words);
      for (int k = 0; k < 8; ++k)
        to[k] = static_cast<float>(runtime::detail::between(a, b, uniform01(words[4 * k], words[4 * k + 1])));
#endif
    }
  }
};

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/initial_numbers.ipp"
#endif
