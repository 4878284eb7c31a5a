// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random numbers by packs. Each number depends on the key and on the index of its element alone, so a tensor may be
/// filled in any order and by any number of threads.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/base/random_blocks.hpp"
#include "tagma/device/cpu/math.hpp"

namespace tagma::device::cpu {

/// Elements that are made of one block.
template <class T>
inline constexpr int per_block = 16 / static_cast<int>(sizeof(T));
/// Elements are drawn by multiples of this: those of eight blocks.
template <class T>
inline constexpr int drawn_at_once = 8 * per_block<T>;
/// Bytes of the vectors that make blocks: 32 where no loop is compiled without AVX2.
inline constexpr int bytes_of_blocks = TAGMA_HAS_F16C ? 32 : 16;
/// The most that are drawn in a call of the functions below. So many that vectors which read single elements that were
/// just stored need not wait for them, and all stay in the cache.
inline constexpr int most_drawn = 256;

/// Elements `first` to `first + count - 1` of a tensor of uniform numbers in [0, 1).
/// @tparam W       lanes of a pack
/// @tparam T       float with 24 random bits, or double with 53
/// @param  first   a multiple of `drawn_at_once<T>`
/// @param  attempt which redraw this is
/// @param  count   another one
template <int W, class T>
TAGMA_INLINE void random_uniform(const random_key& key, std::uint64_t first, std::uint16_t attempt, T* to,
                                 std::int64_t count) {
  constexpr int n = drawn_at_once<T>;
  for (std::int64_t at = 0; at < count; at += n, to += n) {
    std::uint32_t words[32];
    random_blocks<8, W == wide_width ? 64 : bytes_of_blocks>(
        key, (first + static_cast<std::uint64_t>(at)) / per_block<T>, attempt, words);
    if constexpr (detail::same<T, double>) {
      for (unsigned i = 0; i < n; ++i) to[i] = uniform01(words[2 * i], words[2 * i + 1]);
    } else {  // as uniform01
      for (int i = 0; i < n; i += W)
        store(to + i, convert<float>(reinterpret<std::int32_t>(load<W>(words + i) >> 8)) * 0x1p-24f);
    }
  }
}

/// The same of normal numbers with mean 0 and deviation 1. Floats lie within 5.8, doubles within 8.6. The variants of a
/// loop may differ in the last bits, as those of the functions in math.hpp do.
/// @param count up to `most_drawn`
template <int W, class T>
TAGMA_INLINE void random_normal(const random_key& key, std::uint64_t first, std::uint16_t attempt, T* to,
                                std::int64_t count) {
  // Of two uniform numbers Box and Muller take one for the distance, which two elements share, and one for the angle:
  // the second element is a quarter turn further.
  T turns[most_drawn], radius[most_drawn / 2];
  random_uniform<W>(key, first, attempt, to, count);
  const std::int64_t pairs = count / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    radius[i] = to[2 * i];
    turns[2 * i] = to[2 * i + 1];
    turns[2 * i + 1] = to[2 * i + 1] - T{0.25};
  }
  constexpr int half = W < drawn_at_once<T> / 2 ? W : drawn_at_once<T> / 2;
  for (std::int64_t i = 0; i < pairs; i += half) store(radius + i, normal_distance<T>(load<half>(radius + i)));
  for (std::int64_t i = 0; i < pairs; ++i) to[2 * i] = to[2 * i + 1] = radius[i];
  for (std::int64_t i = 0; i < count; i += W) store(to + i, normal_at<T>(load<W>(to + i), load<W>(turns + i)));
}

/// The same, where every element outside (-2, 2) is drawn again until it is inside.
template <int W, class T>
TAGMA_INLINE void random_truncated_normal(const random_key& key, std::uint64_t first, T* to, std::int64_t count) {
  constexpr int n = drawn_at_once<T>;
  random_normal<W>(key, first, 0, to, count);
  for (std::int64_t at = 0; at < count; at += n, to += n) {
    for (std::uint16_t attempt = 1; attempt != 0; ++attempt) {
      bool inside = true;
      for (int i = 0; i < n; ++i) inside = inside && abs(to[i]) < T{2};
      if (inside) break;
      T again[static_cast<unsigned>(n)];
      random_normal<W>(key, first + static_cast<std::uint64_t>(at), attempt, again, n);
      for (int i = 0; i < n; ++i)
        if (!(abs(to[i]) < T{2})) to[i] = again[i];
    }
  }
}

}  // namespace tagma::device::cpu
