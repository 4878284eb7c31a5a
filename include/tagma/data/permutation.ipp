// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of permutation.hpp: in the compiled half, or else in each file that includes it.

#include <bit>

#include "tagma/base/config.hpp"
#include "tagma/data/permutation.hpp"

namespace tagma::datasets {

TAGMA_DECL permutation::permutation(extent n, std::uint64_t seed, std::uint64_t epoch)
    : n_(static_cast<std::uint64_t>(n)) {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const auto high = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); };
  const philox_block bits = philox(low(seed), high(seed), {low(epoch), high(epoch), 0x7065726du, 0});
  key_ = std::uint64_t{bits[1]} << 32 | bits[0];
  step_ = std::uint64_t{bits[3]} << 32 | bits[2] | 1;
  const int width = n_ < 2 ? 1 : static_cast<int>(std::bit_width(n_ - 1));
  const int all = width < least_bits ? least_bits : width;
  low_bits_ = (all + 1) / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (all - low_bits_)) - 1;
}

TAGMA_DECL extent permutation::operator()(extent i) const {
  auto x = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t low = x & low_mask_, high = x >> low_bits_, key = key_;
    for (int round = 0; round < 3; ++round) {
      high ^= mix(low + key) & high_mask_;
      low ^= mix(high + key + step_) & low_mask_;
      key += 2 * step_;
    }
    x = high << low_bits_ | low;
  } while (x >= n_);
  return static_cast<extent>(x);
}

TAGMA_DECL std::uint64_t permutation::mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

TAGMA_DECL std::size_t shuffle_draws::below(std::uint64_t n) {
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
  std::uint64_t bits = draw();
  while (bits >= limit) bits = draw();
  return static_cast<std::size_t>(bits % n);
}

TAGMA_DECL std::uint64_t shuffle_draws::draw() {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const auto high = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); };
  const philox_block block = philox(low(seed_), high(seed_), {low(drawn_), high(drawn_), low(epoch_), high(epoch_)});
  ++drawn_;
  return std::uint64_t{block[1]} << 32 | block[0];
}

}  // namespace tagma::datasets

namespace tagma {

TAGMA_DECL std::vector<extent> shuffled_order(extent count, extent buffer, std::uint64_t seed, std::uint64_t epoch) {
  datasets::shuffle_draws draws(seed, epoch);
  std::vector<extent> order, waiting;
  order.reserve(static_cast<std::size_t>(count));
  extent next = 0;
  while (next < count && next < buffer) waiting.push_back(next++);
  while (!waiting.empty()) {
    extent& slot = waiting[draws.below(waiting.size())];
    order.push_back(slot);
    if (next < count) {
      slot = next++;
    } else {
      slot = waiting.back();
      waiting.pop_back();
    }
  }
  return order;
}

}  // namespace tagma
