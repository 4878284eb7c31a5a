// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random bits of several blocks at once: those of `random_block`, two blocks in each instruction where there are some
/// for that.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"

namespace tagma {

namespace detail {
#if defined(__x86_64__) && __has_builtin(__builtin_ia32_pmuludq128)
/// The words of two blocks, in the lower halves of 64-bit lanes: SSE2 multiplies these. Nobody reads the upper halves.
struct two_blocks {
  typedef std::uint64_t lanes __attribute__((vector_size(16)));
  typedef int halves __attribute__((vector_size(16)));
  lanes a, b, c, d;

  TAGMA_INLINE static lanes both(std::uint64_t x) { return lanes{x, x}; }
  TAGMA_INLINE static lanes times(const lanes& x, std::uint32_t factor) {
    return __builtin_bit_cast(
        lanes, __builtin_ia32_pmuludq128(__builtin_bit_cast(halves, x), __builtin_bit_cast(halves, both(factor))));
  }
  TAGMA_INLINE two_blocks(const random_key& key, std::uint64_t first, std::uint16_t attempt)
      : a(both(first) + lanes{0, 1}),
        b(((a >> 32) & 0xffffu) | std::uint64_t{std::uint32_t{attempt} << 16}),
        c(both(key.step)),
        d(both(key.stream)) {}
  /// As in `philox_rounds`.
  TAGMA_INLINE void round(std::uint32_t low, std::uint32_t high) {
    const lanes x = times(a, 0xD2511F53u), y = times(c, 0xCD9E8D57u);
    a = (y >> 32) ^ b ^ both(low);
    b = y;
    c = (x >> 32) ^ d ^ both(high);
    d = x;
  }
  TAGMA_INLINE void store(std::uint32_t* words) const {
    const lanes x = (a & 0xffffffffu) | (b << 32), y = (c & 0xffffffffu) | (d << 32);
    const lanes one = __builtin_shufflevector(x, y, 0, 2), other = __builtin_shufflevector(x, y, 1, 3);
    __builtin_memcpy(words, &one, 16);
    __builtin_memcpy(words + 4, &other, 16);
  }
};
#endif

/// The words of eight blocks, in the lower halves of the lanes of a vector of 64 bytes: for AVX-512.
struct eight_blocks {
  typedef std::uint64_t lanes __attribute__((vector_size(64)));
  lanes a, b, c, d;

  TAGMA_INLINE eight_blocks(const random_key& key, std::uint64_t first, std::uint16_t attempt) {
    const std::uint64_t s[8] = {key.step, key.step, key.step, key.step, key.step, key.step, key.step, key.step};
    const std::uint64_t t[8] = {key.stream, key.stream, key.stream, key.stream,
                                key.stream, key.stream, key.stream, key.stream};
    a = first + lanes{0, 1, 2, 3, 4, 5, 6, 7};
    b = ((a >> 32) & 0xffffu) | std::uint64_t{std::uint32_t{attempt} << 16};
    __builtin_memcpy(&c, s, sizeof c);  // g++ warns of the rest of what is not read if they are written out
    __builtin_memcpy(&d, t, sizeof d);
  }
  /// As in `philox_rounds`.
  TAGMA_INLINE void round(std::uint32_t low, std::uint32_t high) {
    const lanes first = lanes{} + std::uint64_t{0xD2511F53u}, second = lanes{} + std::uint64_t{0xCD9E8D57u};
    lanes x, y;
    TAGMA_PRODUCTS_OF_HALVES(x, a, first);
    TAGMA_PRODUCTS_OF_HALVES(y, c, second);
    a = (y >> 32) ^ b ^ std::uint64_t{low};
    b = y;
    c = (x >> 32) ^ d ^ std::uint64_t{high};
    d = x;
  }
  TAGMA_INLINE void store(std::uint32_t* words) const {
    const lanes x = (a & 0xffffffffu) | (b << 32), y = (c & 0xffffffffu) | (d << 32);
    const lanes one = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
    const lanes other = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
    __builtin_memcpy(words, &one, 64);
    __builtin_memcpy(words + 16, &other, 64);
  }
};

/// All rounds of some blocks, in turn, with the keys of `philox_rounds`.
template <class... Blocks>
TAGMA_INLINE void ten_rounds(const random_key& key, Blocks&... blocks) {
  auto low = static_cast<std::uint32_t>(key.seed), high = static_cast<std::uint32_t>(key.seed >> 32);
  for (int r = 0; r < 10; ++r, low += 0x9E3779B9u, high += 0xBB67AE85u) (blocks.round(low, high), ...);
}
}  // namespace detail

/// `random_block` of blocks in a row, a multiple of four: all words of the first, then those of the next.
/// @tparam Wide for loops that are compiled for AVX-512; then a multiple of eight
template <int Blocks, bool Wide = false>
TAGMA_INLINE void random_blocks(const random_key& key, std::uint64_t first, std::uint16_t attempt,
                                std::uint32_t (&words)[static_cast<unsigned>(4 * Blocks)]) {
  static_assert(Blocks % (Wide ? 8 : 4) == 0);
  if constexpr (Wide) {
    for (unsigned i = 0; i < Blocks; i += 8) {
      detail::eight_blocks eight(key, first + i, attempt);
      detail::ten_rounds(key, eight);
      eight.store(words + 4 * i);
    }
  } else {
#if defined(__x86_64__) && __has_builtin(__builtin_ia32_pmuludq128)
    for (unsigned i = 0; i < Blocks; i += 4) {  // one waits for its products while the other multiplies
      detail::two_blocks one(key, first + i, attempt), other(key, first + i + 2, attempt);
      detail::ten_rounds(key, one, other);
      one.store(words + 4 * i);
      other.store(words + 4 * i + 8);
    }
#else
    for (unsigned i = 0; i < Blocks; ++i) {
      const philox_block r = random_block(key, first + i, attempt);
      for (unsigned k = 0; k < 4; ++k) words[4 * i + k] = r[k];
    }
#endif
  }
}

}  // namespace tagma
