// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Orders of a dataset as pure functions of a seed and the number of a pass.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tagma/base/random.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::datasets {

/// A permutation of 0 to n - 1 that is never written down: a Feistel network over the bits of a position, walked until
/// it is below n (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Its keys are of Philox.
class permutation {
 public:
  permutation() = default;
  permutation(extent n, std::uint64_t seed, std::uint64_t epoch);

  /// Where position `i`, from 0 to n - 1, goes.
  [[nodiscard]] extent operator()(extent i) const;

 private:
  static constexpr int least_bits = 8;  // with few bits, a network of few rounds makes few permutations

  /// A finalizer of 64 bits (Stafford's thirteenth, as in SplitMix64).
  [[nodiscard]] static std::uint64_t mix(std::uint64_t z);

  std::uint64_t n_ = 0, key_ = 0, step_ = 0, low_mask_ = 0, high_mask_ = 0;
  int low_bits_ = 0;
};

/// Numbers that a pass with a buffer draws, one after the other.
class shuffle_draws {
 public:
  shuffle_draws(std::uint64_t seed, std::uint64_t epoch) : seed_(seed), epoch_(epoch) {}

  /// A number from 0 to n - 1.
  [[nodiscard]] std::size_t below(std::uint64_t n);

 private:
  [[nodiscard]] std::uint64_t draw();

  std::uint64_t seed_, epoch_, drawn_ = 0;
};

}  // namespace tagma::datasets

namespace tagma {

/// The order in which a shuffled pass visits `count` rows, the same in every process for the same four numbers. As in
/// TensorFlow the next row is drawn from a buffer that holds `buffer` rows and is refilled in order; a buffer of
/// `count` rows or more gives every permutation the same chance.
[[nodiscard]] std::vector<extent> shuffled_order(extent count, extent buffer, std::uint64_t seed, std::uint64_t epoch);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/permutation.ipp"
#endif
