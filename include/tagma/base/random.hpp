// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random bits as a pure function: the same key and counter give the same bits on every device and in every process,
/// in whatever order elements are computed. The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

#include <cstddef>
#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/base/scalar_math.hpp"

namespace tagma {

/// Four 32-bit words: a counter, or the bits that Philox makes of one.
struct philox_block {
  std::uint32_t words[4]{};

  [[nodiscard]] constexpr std::uint32_t operator[](std::size_t i) const { return words[i]; }
  [[nodiscard]] constexpr std::uint32_t& operator[](std::size_t i) { return words[i]; }
  friend constexpr bool operator==(const philox_block&, const philox_block&) = default;
};

/// Philox4x32 with ten rounds, in place: for kernels, which have no block.
/// @param key_lo, key_hi the two words of the key
/// @param words          the counter, and then its bits
TAGMA_DEVICE constexpr void philox_rounds(std::uint32_t key_lo, std::uint32_t key_hi, std::uint32_t (&words)[4]) {
  for (int r = 0; r < 10; ++r) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * words[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * words[2];
    words[0] = static_cast<std::uint32_t>(b >> 32) ^ words[1] ^ key_lo;
    words[1] = static_cast<std::uint32_t>(b);
    words[2] = static_cast<std::uint32_t>(a >> 32) ^ words[3] ^ key_hi;
    words[3] = static_cast<std::uint32_t>(a);
    key_lo += 0x9E3779B9u;
    key_hi += 0xBB67AE85u;
  }
}

/// Philox4x32 with ten rounds.
/// @param key_lo, key_hi the two words of the key
/// @param counter        the block to encrypt; different counters give independent bits
[[nodiscard]] constexpr philox_block philox(std::uint32_t key_lo, std::uint32_t key_hi, const philox_block& counter) {
  philox_block bits = counter;
  philox_rounds(key_lo, key_hi, bits.words);
  return bits;
}

/// What names a random tensor: elements of equal keys are equal everywhere.
struct random_key {
  std::uint64_t seed = 0;    ///< of the graph or of the operation
  std::uint32_t stream = 0;  ///< which node draws
  std::uint32_t step = 0;    ///< which run of the graph; 0 for an initialiser

  friend constexpr bool operator==(const random_key&, const random_key&) = default;
};

/// `random_block` in four words, for kernels.
TAGMA_DEVICE constexpr void random_words(const random_key& key, std::uint64_t block, std::uint16_t attempt,
                                         std::uint32_t (&words)[4]) {
  words[0] = static_cast<std::uint32_t>(block);
  words[1] = static_cast<std::uint32_t>((block >> 32) & 0xffffu) | (std::uint32_t{attempt} << 16);
  words[2] = key.step;
  words[3] = key.stream;
  philox_rounds(static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32), words);
}

/// Block `block` of the stream that `key` names. Element `i` of a tensor with 32-bit draws is word `i % 4` of block
/// `i / 4`.
/// @param block   below 2^48
/// @param attempt which redraw this is, for distributions that reject
[[nodiscard]] constexpr philox_block random_block(const random_key& key, std::uint64_t block,
                                                  std::uint16_t attempt = 0) {
  philox_block bits;
  random_words(key, block, attempt, bits.words);
  return bits;
}

/// The upper 24 bits as a float in [0, 1).
[[nodiscard]] TAGMA_DEVICE constexpr float uniform01(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

/// 53 bits of two words as a double in [0, 1).
/// @param low, high the upper 21 bits of `low` become the lower bits of the result
[[nodiscard]] TAGMA_DEVICE constexpr double uniform01(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>((std::uint64_t{high} << 21) | (low >> 11)) * 0x1p-53;
}

TAGMA_FORMULAS_BEGIN

/// The distance from the middle that the method below takes.
template <class T, class N>
TAGMA_DEVICE N normal_distance(const N& radius) {
  using scalar_math::log;
  using scalar_math::sqrt;
  return sqrt(log(T{1} - radius) * T{-2});
}
/// What a distance becomes at an angle.
template <class T, class N>
TAGMA_DEVICE N normal_at(const N& distance, const N& turns) {
  using scalar_math::cos;
  return distance * cos(turns * static_cast<T>(6.283185307179586476925L));
}

/// Normal numbers with mean 0 and deviation 1 from two uniform ones in [0, 1), by the method of Box and Muller, "A note
/// on the generation of random normal deviates" (1958).
/// @tparam T the type of one number
/// @tparam N T itself, or a type with `sqrt`, `log` and `cos` of its own, such as a pack
/// @param radius,turns from the first the distance from the middle is worked out, the second is the angle
template <class T, class N>
TAGMA_DEVICE N normal_from(const N& radius, const N& turns) {
  return normal_at<T>(normal_distance<T>(radius), turns);
}

TAGMA_FORMULAS_END

/// An integer in [0, bound), by the multiply-and-shift method; the bias is below bound / 2^32.
[[nodiscard]] constexpr std::uint32_t uniform_below(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32);
}

}  // namespace tagma
