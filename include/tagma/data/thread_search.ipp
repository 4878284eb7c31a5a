// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of thread_search.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/data/thread_search.hpp"

namespace tagma::datasets {

TAGMA_DECL int share_threads(std::vector<tuned_share>& stages, int threads, std::int64_t bytes) {
  std::int64_t left = bytes;
  for (tuned_share& s : stages) {
    s.threads = 0;
    left -= s.bytes;
  }
  int given = 0;
  for (; given < threads; ++given) {
    tuned_share* to = nullptr;
    for (tuned_share& s : stages) {
      if (s.threads == 0) {
        to = &s;
        break;
      }
      if (s.threads >= s.most || s.bytes == 0 || s.bytes > left) continue;
      if (to == nullptr || s.work_ns / s.threads > to->work_ns / to->threads) to = &s;
    }
    if (to == nullptr) break;
    if (to->threads++ > 0) left -= to->bytes;
  }
  return given;
}

TAGMA_DECL void share_room(std::vector<tuned_share>& stages, std::int64_t bytes) {
  std::int64_t all = 0;
  for (tuned_share& s : stages) {
    s.room = s.bytes == 0 ? 1 : std::max({extent{1}, extent{2} * s.threads, s.wanted});
    if (s.bytes > 0) s.room = std::max(extent{1}, std::min(s.room, bytes / s.bytes));
    all += s.room * s.bytes;
  }
  while (all > bytes) {
    tuned_share* most = nullptr;
    const auto spare = [](const tuned_share& s) { return s.room - std::max(1, s.threads); };
    for (tuned_share& s : stages)
      if (spare(s) > 0 && (most == nullptr || spare(s) * s.bytes > spare(*most) * most->bytes)) most = &s;
    if (most == nullptr) return;
    const extent less = (spare(*most) + 1) / 2;
    most->room -= less;
    all -= less * most->bytes;
  }
}

TAGMA_DECL void thread_search::observe(double rate, bool waits, int most) {
  if (trial_ > 0) {
    const int tried = std::exchange(trial_, 0);
    if (rate > rate_ * gain) {
      threads_ += tried;
      step_ = 2 * tried;
    } else {
      step_ = tried / 2;
      if (step_ > 0) return;  // the next window tells anew what is to be beaten
      rest_ = rests_;
      rests_ = std::min(2 * rests_, 256);
    }
  }
  rate_ = rate;
  if (threads_ > most) threads_ = most;
  if (rest_ > 0) {
    if (--rest_ == 0) step_ = std::max(1, threads_ / 4);
    return;
  }
  if (waits) trial_ = std::clamp(step_, 0, most - threads_);
}

TAGMA_DECL void thread_search::add(int threads) {
  threads_ += threads;
  if (step_ < threads_) step_ = threads_;
}

}  // namespace tagma::datasets
