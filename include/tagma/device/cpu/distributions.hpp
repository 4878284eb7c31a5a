// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Packs of random numbers. Each lane depends on the key and on the index of its element alone, so a tensor may be
/// filled in any order and by any number of threads.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/device/cpu/math.hpp"

namespace tagma::device::cpu {

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

/// `random_block` of blocks in a row, a multiple of four: all words of the first, then those of the next.
template <int Blocks>
TAGMA_INLINE void random_blocks(const random_key& key, std::uint64_t first, std::uint16_t attempt,
                                std::uint32_t (&words)[static_cast<unsigned>(4 * Blocks)]) {
  static_assert(Blocks % 4 == 0);
#if defined(__x86_64__) && __has_builtin(__builtin_ia32_pmuludq128)
  for (unsigned i = 0; i < Blocks; i += 4) {  // one waits for its products while the other multiplies
    two_blocks one(key, first + i, attempt), other(key, first + i + 2, attempt);
    auto low = static_cast<std::uint32_t>(key.seed), high = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round, low += 0x9E3779B9u, high += 0xBB67AE85u) {
      one.round(low, high);
      other.round(low, high);
    }
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

/// Elements that are made of one block.
template <class T>
inline constexpr int per_block = 16 / static_cast<int>(sizeof(T));

/// W uniform numbers in a row.
template <class T, int W>
TAGMA_INLINE pack<T, W> uniform_numbers(const random_key& key, std::uint64_t first, std::uint16_t attempt) {
  static_assert(floating<T> && W % (4 * per_block<T>) == 0);
  constexpr int blocks = W / per_block<T>;
  std::uint32_t words[static_cast<unsigned>(4 * blocks)];
  detail::random_blocks<blocks>(key, first / static_cast<std::uint64_t>(per_block<T>), attempt, words);
  if constexpr (same<T, double>) {
    double u[static_cast<unsigned>(W)];
    for (unsigned i = 0; i < W; ++i) u[i] = uniform01(words[2 * i], words[2 * i + 1]);
    return load<W>(u);
  } else {  // as uniform01
    return convert<float>(reinterpret<std::int32_t>(load<W>(words) >> 8)) * 0x1p-24f;
  }
}
}  // namespace detail

/// Elements `first` to `first + W - 1` of a tensor of uniform numbers in [0, 1).
/// @tparam T     float with 24 random bits, or double with 53
/// @param  first a multiple of W
template <class T, int W>
TAGMA_INLINE pack<T, W> random_uniform(const random_key& key, std::uint64_t first) {
  return detail::uniform_numbers<T, W>(key, first, 0);
}

/// Elements `first` to `first + W - 1` of a tensor of normal numbers with mean 0 and deviation 1. Floats lie
/// within 5.8, doubles within 8.6. The variants of a loop may differ in the last bits, as those of the functions in
/// math.hpp do.
/// @param first   a multiple of W
/// @param attempt which redraw this is
template <class T, int W>
TAGMA_INLINE pack<T, W> random_normal(const random_key& key, std::uint64_t first, std::uint16_t attempt = 0) {
  // Of two uniform numbers Box and Muller take one for the distance, which two elements share, and one for the angle:
  // the second element is a quarter turn further.
  constexpr auto pairs = static_cast<unsigned>(W / 2);
  T u[2 * pairs], radius[pairs], turns[2 * pairs];
  store(u, detail::uniform_numbers<T, W>(key, first, attempt));
  for (unsigned i = 0; i < pairs; ++i) {
    radius[i] = u[2 * i];
    turns[2 * i] = u[2 * i + 1];
    turns[2 * i + 1] = u[2 * i + 1] - T{0.25};
  }
  store(radius, normal_distance<T>(load<W / 2>(radius)));
  for (unsigned i = 0; i < pairs; ++i) u[2 * i] = u[2 * i + 1] = radius[i];
  return normal_at<T>(load<W>(u), load<W>(turns));
}

/// The same, where every element outside (-2, 2) is drawn again until it is inside.
/// @param first a multiple of W
template <class T, int W>
TAGMA_INLINE pack<T, W> random_truncated_normal(const random_key& key, std::uint64_t first) {
  auto x = random_normal<T, W>(key, first);
  for (std::uint16_t attempt = 1; attempt != 0; ++attempt) {
    const auto outside = !(abs(x) < T{2});
    if (!any(outside)) break;
    x = select(outside, random_normal<T, W>(key, first, attempt), x);
  }
  return x;
}

}  // namespace tagma::device::cpu
