// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Packs of random numbers. Each lane depends on the key and on the index of its element alone, so a tensor may be
/// filled in any order and by any number of threads.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/base/random_blocks.hpp"
#include "tagma/device/cpu/math.hpp"

namespace tagma::device::cpu {

namespace detail {
/// Elements that are made of one block.
template <class T>
inline constexpr int per_block = 16 / static_cast<int>(sizeof(T));

/// W uniform numbers in a row.
template <class T, int W>
TAGMA_INLINE pack<T, W> uniform_numbers(const random_key& key, std::uint64_t first, std::uint16_t attempt) {
  static_assert(floating<T> && W % (4 * per_block<T>) == 0);
  constexpr int blocks = W / per_block<T>;
  std::uint32_t words[static_cast<unsigned>(4 * blocks)];
  random_blocks<blocks>(key, first / static_cast<std::uint64_t>(per_block<T>), attempt, words);
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
