// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random bits of several blocks at once: those of `random_block`, two or more blocks in each instruction where there
/// are some for that.

#include <cstdint>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"

namespace tagma {

namespace detail {
typedef std::uint64_t two_words __attribute__((vector_size(16)));
typedef std::uint64_t four_words __attribute__((vector_size(32)));
typedef std::uint64_t eight_words __attribute__((vector_size(64)));

/// Lanes of the first and of the second vector by turns. Templates, so that files that draw nothing do not compile
/// them.
/// @{
template <class T>
TAGMA_INLINE void store_by_turns(T* to, const two_words& x, const two_words& y) {
  const two_words one = __builtin_shufflevector(x, y, 0, 2), other = __builtin_shufflevector(x, y, 1, 3);
  __builtin_memcpy(to, &one, sizeof one);
  __builtin_memcpy(to + 4, &other, sizeof other);
}
template <class T>
TAGMA_INLINE void store_by_turns(T* to, const four_words& x, const four_words& y) {
  const four_words one = __builtin_shufflevector(x, y, 0, 4, 1, 5), other = __builtin_shufflevector(x, y, 2, 6, 3, 7);
  __builtin_memcpy(to, &one, sizeof one);
  __builtin_memcpy(to + 8, &other, sizeof other);
}
template <class T>
TAGMA_INLINE void store_by_turns(T* to, const eight_words& x, const eight_words& y) {
  const eight_words one = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
  const eight_words other = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
  __builtin_memcpy(to, &one, sizeof one);
  __builtin_memcpy(to + 16, &other, sizeof other);
}
/// @}

/// The words of two, four or eight blocks, in the lower halves of the lanes of vectors, whose upper halves nobody
/// reads: for SSE2, AVX2 and AVX-512.
/// @tparam Lanes one of the above
template <class Lanes>
struct blocks_of {
  using lanes = Lanes;
  lanes a, b, c, d;

  TAGMA_INLINE blocks_of(const random_key& key, std::uint64_t first, std::uint16_t attempt) {
    const std::uint64_t s[8] = {key.step, key.step, key.step, key.step, key.step, key.step, key.step, key.step};
    const std::uint64_t t[8] = {key.stream, key.stream, key.stream, key.stream,
                                key.stream, key.stream, key.stream, key.stream};
    const std::uint64_t n[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    __builtin_memcpy(&a, n, sizeof a);
    a = first + a;
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
    store_by_turns(words, x, y);
  }
};

using four_blocks = blocks_of<four_words>;
using eight_blocks = blocks_of<eight_words>;

/// All rounds of some blocks, in turn, with the keys of `philox_rounds`.
template <class... Blocks>
TAGMA_INLINE void ten_rounds(const random_key& key, Blocks&... blocks) {
  auto low = static_cast<std::uint32_t>(key.seed), high = static_cast<std::uint32_t>(key.seed >> 32);
  for (int r = 0; r < 10; ++r, low += 0x9E3779B9u, high += 0xBB67AE85u) (blocks.round(low, high), ...);
}
}  // namespace detail

/// `random_block` of blocks in a row, a multiple of four, or of eight for longer vectors: all words of the first, then
/// those of the next.
/// @tparam Bytes of vectors: 16, or 32 or 64 in loops that are compiled for AVX2 or AVX-512
template <int Blocks, int Bytes = 16>
TAGMA_INLINE void random_blocks(const random_key& key, std::uint64_t first, std::uint16_t attempt,
                                std::uint32_t (&words)[static_cast<unsigned>(4 * Blocks)]) {
  static_assert(Blocks % (Bytes == 16 ? 4 : 8) == 0);
  if constexpr (Bytes == 64) {
    for (unsigned i = 0; i < Blocks; i += 8) {
      detail::eight_blocks eight(key, first + i, attempt);
      detail::ten_rounds(key, eight);
      eight.store(words + 4 * i);
    }
  } else {
#if defined(__x86_64__)
    using blocks = detail::blocks_of<std::conditional_t<Bytes == 32, detail::four_words, detail::two_words>>;
    constexpr unsigned n = sizeof(typename blocks::lanes) / 8;
    for (unsigned i = 0; i < Blocks; i += 2 * n) {  // one waits for its products while the other multiplies
      blocks one(key, first + i, attempt), other(key, first + i + n, attempt);
      detail::ten_rounds(key, one, other);
      one.store(words + 4 * i);
      other.store(words + 4 * (i + n));
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
