// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random numbers of single elements. The bits are those of base/random.hpp, and so are uniform numbers; normal ones
/// may differ from the CPU's in their last bits, as its variants do among themselves.

#include "tagma/device/cuda/scalar.hpp"

namespace tagma::device::cuda {

/// Four 32-bit words.
struct random_words {
  std::uint32_t word[4];
};

/// What names a random tensor, as `tagma::random_key`.
struct random_stream {
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint32_t step;
};

/// Block `block` of a stream, as `tagma::random_block` has it: Philox4x32 with ten rounds (Salmon, Moraes, Dror and
/// Shaw, SC 2011).
TAGMA_DEVICE random_words random_words_of(const random_stream& s, std::uint64_t block, std::uint32_t attempt = 0) {
  auto low = static_cast<std::uint32_t>(s.seed), high = static_cast<std::uint32_t>(s.seed >> 32);
  random_words c{{static_cast<std::uint32_t>(block),
                  static_cast<std::uint32_t>((block >> 32) & 0xffffu) | (attempt << 16), s.step, s.stream}};
  for (int r = 0; r < 10; ++r) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c.word[0], b = std::uint64_t{0xCD9E8D57u} * c.word[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ low, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ high, static_cast<std::uint32_t>(a)}};
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return c;
}

/// The upper 24 bits as a float in [0, 1).
TAGMA_DEVICE float unit_interval(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
/// 53 bits of two words as a double in [0, 1).
TAGMA_DEVICE double unit_interval(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>((std::uint64_t{high} << 21) | (low >> 11)) * 0x1p-53;
}

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
TAGMA_DEVICE random_elements<C> uniform_elements(const random_stream& s, std::uint64_t block) {
  const random_words r = random_words_of(s, block);
  if constexpr (sizeof(C) == 8)
    return {{unit_interval(r.word[0], r.word[1]), unit_interval(r.word[2], r.word[3])}};
  else
    return {{unit_interval(r.word[0]), unit_interval(r.word[1]), unit_interval(r.word[2]), unit_interval(r.word[3])}};
}

/// A normal number by the method of Box and Muller (1958), from two uniform ones.
template <class C>
TAGMA_DEVICE C normal_number(C radius, C turns) {
  return square_root(logarithm(C(1) - radius) * C(-2)) * cosine(turns * static_cast<C>(6.283185307179586476925));
}

/// Normal with mean 0 and deviation 1. The elements of a pair share their radius; their angles are a quarter turn
/// apart.
template <class C>
TAGMA_DEVICE random_elements<C> normal_elements(const random_stream& s, std::uint64_t block,
                                                std::uint32_t attempt = 0) {
  const random_words r = random_words_of(s, block, attempt);
  if constexpr (sizeof(C) == 8) {
    const C radius = unit_interval(r.word[0], r.word[1]), turns = unit_interval(r.word[2], r.word[3]);
    return {{normal_number(radius, turns), normal_number(radius, turns - C(0.25))}};
  } else {
    const C a = unit_interval(r.word[0]), b = unit_interval(r.word[1]);
    const C c = unit_interval(r.word[2]), d = unit_interval(r.word[3]);
    return {{normal_number(a, b), normal_number(a, b - C(0.25)), normal_number(c, d), normal_number(c, d - C(0.25))}};
  }
}

/// The same, where every element outside (-2, 2) is drawn again until it is inside.
template <class C>
TAGMA_DEVICE random_elements<C> truncated_elements(const random_stream& s, std::uint64_t block) {
  random_elements<C> x = normal_elements<C>(s, block);
  for (std::uint32_t attempt = 1; attempt < 65536; ++attempt) {
    bool all = true;
    for (const C e : x.element) all = all && magnitude(e) < C(2);
    if (all) break;
    const random_elements<C> again = normal_elements<C>(s, block, attempt);
    TAGMA_UNROLL
    for (int i = 0; i < random_width<C>; ++i)
      if (!(magnitude(x.element[i]) < C(2))) x.element[i] = again.element[i];
  }
  return x;
}

}  // namespace tagma::device::cuda
