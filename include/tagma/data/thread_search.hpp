// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How many threads and elements the stages of a pipeline should have: the arithmetic of it, without a clock.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tagma/tensor/shape.hpp"

namespace tagma::datasets {

/// What is known of a stage, and what it is given.
struct tuned_share {
  double work_ns = 0;      ///< of one element in one thread
  std::int64_t bytes = 0;  ///< of the largest element so far; 0: there was none
  extent wanted = 0;       ///< elements that it would like to keep
  int most = 1 << 20;      ///< threads that make sense
  int threads = 0;         ///< given
  extent room = 0;         ///< given: elements that it works on or keeps
};

/// Shares threads out: one for each stage, in order, and each further one for the stage whose work, divided by the
/// threads that it has, takes longest. A thread needs room for the element that it works on; stages without an element
/// so far have one thread. Returns how many were given.
int share_threads(std::vector<tuned_share>& stages, int threads, std::int64_t bytes);

/// Shares room out: for twice as many elements as threads, or what is wanted, less where the bytes do not suffice, but
/// for one element of each stage at least.
void share_room(std::vector<tuned_share>& stages, std::int64_t bytes);

/// Climbs a hill: how many threads there should be in all, by how fast elements come with so many. While somebody
/// waits for elements it tries more, twice as many at first. What brings less than a thirtieth is taken back, and half
/// as many are tried; where a single one brings nothing, the search rests, longer each time.
class thread_search {
 public:
  explicit thread_search(int threads) : threads_(threads), step_(threads) {}

  /// What the next window should be measured with.
  [[nodiscard]] int threads() const { return threads_ + trial_; }
  [[nodiscard]] bool resting() const { return rest_ > 0; }

  /// @param rate elements for each unit of time, in a window with `threads()`
  /// @param waits whether somebody waited for them
  /// @param most threads that there may be
  void observe(double rate, bool waits, int most);
  /// There are more stages, each of which has a thread.
  void add(int threads);

 private:
  static constexpr double gain = 1.0 + 1.0 / 30;

  int threads_, step_, trial_ = 0, rest_ = 0, rests_ = 16;
  double rate_ = 0;
};

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/thread_search.ipp"
#endif
