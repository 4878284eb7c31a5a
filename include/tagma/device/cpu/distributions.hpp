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
// Two uniform numbers for each element, from which Box and Muller make a normal one. The elements of a pair share their
// radius, and their angles are a quarter turn apart.
template <class T, int W>
TAGMA_INLINE void random_pairs(const random_key& key, std::uint64_t first, std::uint16_t attempt, pack<T, W>& radius,
                               pack<T, W>& turns) {
  constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T a[static_cast<unsigned>(W)], b[static_cast<unsigned>(W)];
  for (int i = 0; i < W; i += per_block) {
    const auto index = (first + static_cast<std::uint64_t>(i)) / static_cast<std::uint64_t>(per_block);
    const philox_block r = random_block(key, index, attempt);
    if constexpr (same<T, double>) {
      a[i] = a[i + 1] = uniform01(r[0], r[1]);
      b[i] = uniform01(r[2], r[3]);
      b[i + 1] = b[i] - 0.25;
    } else {
      a[i] = a[i + 1] = uniform01(r[0]);
      b[i] = uniform01(r[1]);
      b[i + 1] = b[i] - 0.25f;
      a[i + 2] = a[i + 3] = uniform01(r[2]);
      b[i + 2] = uniform01(r[3]);
      b[i + 3] = b[i + 2] - 0.25f;
    }
  }
  radius = load<W>(a);
  turns = load<W>(b);
}
}  // namespace detail

/// Elements `first` to `first + W - 1` of a tensor of uniform numbers in [0, 1).
/// @tparam T     float with 24 random bits, or double with 53
/// @param  first a multiple of 4
template <class T, int W = default_width>
TAGMA_INLINE pack<T, W> random_uniform(const random_key& key, std::uint64_t first) {
  static_assert(detail::floating<T> && W % 4 == 0);
  constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T u[static_cast<unsigned>(W)];
  for (int i = 0; i < W; i += per_block) {
    const auto index = (first + static_cast<std::uint64_t>(i)) / static_cast<std::uint64_t>(per_block);
    const philox_block r = random_block(key, index);
    if constexpr (detail::same<T, double>) {
      u[i] = uniform01(r[0], r[1]);
      u[i + 1] = uniform01(r[2], r[3]);
    } else {
      for (int k = 0; k < 4; ++k) u[i + k] = uniform01(r[static_cast<unsigned>(k)]);
    }
  }
  return load<W>(u);
}

/// Elements `first` to `first + W - 1` of a tensor of normal numbers with mean 0 and deviation 1. Floats lie
/// within 5.8, doubles within 8.6. The variants of a loop may differ in the last bits, as those of the functions in
/// math.hpp do.
/// @param first   a multiple of 4
/// @param attempt which redraw this is
template <class T, int W = default_width>
TAGMA_INLINE pack<T, W> random_normal(const random_key& key, std::uint64_t first, std::uint16_t attempt = 0) {
  static_assert(detail::floating<T> && W % 4 == 0);
  pack<T, W> radius, turns;
  detail::random_pairs(key, first, attempt, radius, turns);
  return normal_from<T>(radius, turns);
}

/// The same, where every element outside (-2, 2) is drawn again until it is inside.
/// @param first a multiple of 4
template <class T, int W = default_width>
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
