// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random numbers of single elements. The bits are those of base/random.hpp, and so are uniform numbers; normal ones
/// may differ from the CPU's in their last bits, as its variants do among themselves.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/device/cuda/scalar.hpp"

namespace tagma::device::cuda {

/// Elements that one block of random words makes: 4 floats or 2 doubles.
template <class C>
inline constexpr int random_width = static_cast<int>(16 / sizeof(C));

/// The elements of one block.
template <class C>
struct random_elements {
  C element[random_width<C>];
};

/// Uniform in [0, 1).
template <class C>
TAGMA_DEVICE random_elements<C> uniform_elements(const random_key& key, std::uint64_t block) {
  std::uint32_t r[4];
  random_words(key, block, 0, r);
  if constexpr (sizeof(C) == 8)
    return {{uniform01(r[0], r[1]), uniform01(r[2], r[3])}};
  else
    return {{uniform01(r[0]), uniform01(r[1]), uniform01(r[2]), uniform01(r[3])}};
}

/// Normal with mean 0 and deviation 1. The elements of a pair share their radius; their angles are a quarter turn
/// apart.
template <class C>
TAGMA_DEVICE random_elements<C> normal_elements(const random_key& key, std::uint64_t block, std::uint16_t attempt = 0) {
  std::uint32_t r[4];
  random_words(key, block, attempt, r);
  if constexpr (sizeof(C) == 8) {
    const C radius = uniform01(r[0], r[1]), turns = uniform01(r[2], r[3]);
    return {{normal_from<C>(radius, turns), normal_from<C>(radius, turns - C(0.25))}};
  } else {
    const C a = uniform01(r[0]), b = uniform01(r[1]);
    const C c = uniform01(r[2]), d = uniform01(r[3]);
    return {
        {normal_from<C>(a, b), normal_from<C>(a, b - C(0.25)), normal_from<C>(c, d), normal_from<C>(c, d - C(0.25))}};
  }
}

/// The same, where every element outside (-2, 2) is drawn again until it is inside.
template <class C>
TAGMA_DEVICE random_elements<C> truncated_elements(const random_key& key, std::uint64_t block) {
  random_elements<C> x = normal_elements<C>(key, block);
  for (std::uint16_t attempt = 1; attempt != 0; ++attempt) {
    bool all = true;
    for (const C e : x.element) all = all && abs(e) < C(2);
    if (all) break;
    const random_elements<C> again = normal_elements<C>(key, block, attempt);
    TAGMA_UNROLL
    for (int i = 0; i < random_width<C>; ++i)
      if (!(abs(x.element[i]) < C(2))) x.element[i] = again.element[i];
  }
  return x;
}

}  // namespace tagma::device::cuda
