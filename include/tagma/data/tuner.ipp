// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of tuner.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <thread>

#include "tagma/base/config.hpp"
#include "tagma/data/tuner.hpp"

namespace tagma::datasets {

TAGMA_DECL bool tuned_part::take_room() {
  if (held.fetch_add(1) < room.load()) return true;
  held.fetch_sub(1);
  return false;
}

TAGMA_DECL tuner::tuner(int threads, std::int64_t bytes)
    : threads_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
      bytes_(bytes > 0 ? bytes : default_bytes),
      search_(0) {}

TAGMA_COLD TAGMA_DECL counted<tuner> tuner::of(pass_services* services) {
  if (services == nullptr) return make_counted<tuner>(0, 0);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (services->tuner == nullptr) services->tuner = make_counted<tuner>(services->threads, services->bytes);
  return counted<tuner>(static_cast<tuner*>(services->tuner.get()));
}

TAGMA_COLD TAGMA_DECL counted<tuned_part> tuner::enter(const any_stage& stage, int most) {
  const std::lock_guard lock(mutex_);
  counted<tuned_part> part;
  for (const auto& p : parts_)
    if (!p->active && p->of == &stage) part = p;
  if (part == nullptr) {
    std::erase_if(parts_, [&](const auto& p) { return !p->active && parts_.size() >= many; });
    parts_.push_back(part = make_counted<tuned_part>());
    part->of = &stage;
    part->most = most;
    part->seen_made = part->seen_work_ns = 0;
    if (search_.threads() < threads_) search_.add(1);
  }
  part->active = true;
  part->held.store(0);
  share();
  return part;
}

TAGMA_COLD TAGMA_DECL void tuner::leave(tuned_part& part) {
  const std::lock_guard lock(mutex_);
  part.active = false;
  part.held.store(0);
  share();
}

TAGMA_DECL bool tuner::begin_thread() {
  if (running_.fetch_add(1) < threads_) return true;
  running_.fetch_sub(1);
  return false;
}

TAGMA_COLD TAGMA_DECL void tuner::grew(tuned_part& part, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes <= part.bytes.load()) return;
  part.bytes.store(bytes);
  share();
}

TAGMA_DECL void tuner::gave(tuned_part& part) {
  const std::int64_t given = part.given.fetch_add(1, memory_order::relaxed) + 1;
  if (&part != leader_.load(memory_order::relaxed) || given < look_at_.load(memory_order::relaxed)) return;
  look(part, given, runtime::now_ns());
}

TAGMA_COLD TAGMA_DECL void tuner::look(tuned_part& leader, std::int64_t given, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const std::int64_t few = std::max(8, 3 * search_.threads());
  if (settling_) {
    begin_window(leader, given, now, few);
    return;
  }
  if (now - begun_ns_ < window_ns) {
    // Not longer than a second, and never as often as each element.
    look_at_.store(given + std::max(std::int64_t{1}, (given - begun_given_) / 4), memory_order::relaxed);
    return;
  }
  for (const auto& p : parts_) {
    const std::int64_t made = p->made.load(), work = p->work_ns.load();
    if (made > p->seen_made) {
      const double one = static_cast<double>(work - p->seen_work_ns) / static_cast<double>(made - p->seen_made);
      p->work = p->work == 0 ? one : (p->work + one) / 2;
    }
    p->seen_made = made;
    p->seen_work_ns = work;
    // It was full and it was empty: with more room, what others do at their own pace would even out.
    const bool full = p->was_full.exchange(false), empty = p->was_empty.exchange(false);
    if (full && empty && p->wanted < most_wanted) p->wanted *= 2;
  }
  const std::int64_t took = now - begun_ns_, waited = leader.empty_ns.load() - begun_empty_ns_;
  const int before = search_.threads();
  search_.observe(static_cast<double>(given - begun_given_) / static_cast<double>(took), waited > took / 20, threads_);
  share();
  settling_ = search_.threads() != before;
  if (settling_)
    look_at_.store(given + search_.threads(), memory_order::relaxed);
  else
    begin_window(leader, given, now, few);
}

TAGMA_DECL void tuner::begin_window(const tuned_part& leader, std::int64_t given, std::int64_t now,
                                    std::int64_t elements) {
  settling_ = false;
  begun_ns_ = now;
  begun_given_ = given;
  begun_empty_ns_ = leader.empty_ns.load();
  look_at_.store(given + elements, memory_order::relaxed);
}

TAGMA_DECL void tuner::share() {
  std::vector<tuned_part*> active;
  std::vector<tuned_share> shares;
  for (const auto& p : parts_)
    if (p->active) {
      active.push_back(p.get());
      shares.push_back({p->work, p->bytes.load(), p->wanted, p->most, 0, 0});
    }
  tuned_part* const first = active.empty() ? nullptr : active[0];
  if (first != nullptr && leader_.load() != first) {
    leader_.store(first);
    settling_ = true;
    look_at_.store(0);
  }
  share_threads(shares, std::min(threads_, search_.threads()), bytes_);
  share_room(shares, bytes_);
  std::int64_t used = 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    active[i]->threads.store(shares[i].threads);
    if (shares[i].room < active[i]->room.load()) active[i]->room.store(shares[i].room);
    used += std::max(active[i]->room.load(), active[i]->held.load()) * shares[i].bytes;
  }
  for (std::size_t i = 0; i < active.size(); ++i) {
    const std::int64_t more = shares[i].room - std::max(active[i]->room.load(), active[i]->held.load());
    if (more <= 0) continue;
    const std::int64_t some = shares[i].bytes == 0 ? more : std::min(more, (bytes_ - used) / shares[i].bytes);
    if (some <= 0) continue;
    active[i]->room.store(shares[i].room - more + some);
    used += some * shares[i].bytes;
  }
}

}  // namespace tagma::datasets
