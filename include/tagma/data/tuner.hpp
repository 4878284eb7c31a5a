// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The budgets of a pass, and who gives its stages their parts of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/data/meter.hpp"
#include "tagma/data/thread_search.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::datasets {

/// What the stages of a pass that find their numbers keep at most where nobody says otherwise.
inline constexpr std::int64_t default_bytes = std::int64_t{256} << 20;

/// The part of a stage, and what it tells of itself. Its pass and the tuner use it at once.
struct tuned_part {
  using number = atomic<std::int64_t>;

  // Given by the tuner.
  atomic<int> threads{1};
  number room{1};  ///< elements that it works on or keeps

  // Told by the pass.
  number held{0};                 ///< elements that it works on or keeps
  number bytes{0};                ///< of the largest element
  number made{0}, work_ns{0};     ///< elements, and what they took
  number given{0}, empty_ns{0};   ///< elements, and how long they were waited for
  atomic<bool> was_full{false};   ///< nothing more could be taken, and
  atomic<bool> was_empty{false};  ///< somebody waited, since somebody looked

  /// Room for one more element, taken at once. Whoever lowers `room` and then looks at `held` sees it, or this sees
  /// that `room` is lower.
  [[nodiscard]] bool take_room() {
    if (held.fetch_add(1) < room.load()) return true;
    held.fetch_sub(1);
    return false;
  }

  // Of the tuner.
  const any_stage* of = nullptr;
  bool active = false;
  int most = 1;
  double work = 0;
  extent wanted = 2;
  std::int64_t seen_made = 0, seen_work_ns = 0;
};

/// Keeps the stages of one pass within its budgets, and finds what each should have of them.
class tuner {
 public:
  tuner(int threads, std::int64_t bytes)
      : threads_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        bytes_(bytes > 0 ? bytes : default_bytes),
        search_(0) {}

  /// That of a pass; the first stage makes it. Passes of datasets that share nothing have one for each stage.
  [[nodiscard]] TAGMA_COLD static std::shared_ptr<tuner> of(pass_services* services) {
    if (services == nullptr) return std::make_shared<tuner>(0, 0);
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (services->tuner == nullptr) services->tuner = std::make_shared<tuner>(services->threads, services->bytes);
    return std::static_pointer_cast<tuner>(services->tuner);
  }

  /// A stage begins a pass. What an earlier pass of it found is used again.
  /// @param most threads that make sense
  [[nodiscard]] TAGMA_COLD std::shared_ptr<tuned_part> enter(const any_stage& stage, int most) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<tuned_part> part;
    for (const auto& p : parts_)
      if (!p->active && p->of == &stage) part = p;
    if (part == nullptr) {
      std::erase_if(parts_, [&](const auto& p) { return !p->active && parts_.size() >= many; });
      parts_.push_back(part = std::make_shared<tuned_part>());
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
  TAGMA_COLD void leave(tuned_part& part) {
    const std::lock_guard lock(mutex_);
    part.active = false;
    part.held.store(0);
    share();
  }

  /// Whether a thread may begin.
  [[nodiscard]] bool begin_thread() {
    if (running_.fetch_add(1) < threads_) return true;
    running_.fetch_sub(1);
    return false;
  }
  void end_thread() { running_.fetch_sub(1); }

  /// There was a larger element than before.
  TAGMA_COLD void grew(tuned_part& part, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes <= part.bytes.load()) return;
    part.bytes.store(bytes);
    share();
  }
  /// A stage gave an element. Now and then that of the stage nearest to whoever asks leads to other numbers.
  void gave(tuned_part& part) {
    const std::int64_t given = part.given.fetch_add(1, memory_order::relaxed) + 1;
    if (&part != leader_.load(memory_order::relaxed) || given < look_at_.load(memory_order::relaxed)) return;
    look(part, given, runtime::now_ns());
  }

 private:
  static constexpr std::int64_t window_ns = 20'000'000;
  static constexpr std::size_t many = 64;

  TAGMA_COLD void look(tuned_part& leader, std::int64_t given, std::int64_t now) {
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
    search_.observe(static_cast<double>(given - begun_given_) / static_cast<double>(took), waited > took / 20,
                    threads_);
    share();
    settling_ = search_.threads() != before;
    if (settling_)
      look_at_.store(given + search_.threads(), memory_order::relaxed);
    else
      begin_window(leader, given, now, few);
  }
  void begin_window(const tuned_part& leader, std::int64_t given, std::int64_t now, std::int64_t elements) {
    settling_ = false;
    begun_ns_ = now;
    begun_given_ = given;
    begun_empty_ns_ = leader.empty_ns.load();
    look_at_.store(given + elements, memory_order::relaxed);
  }

  /// Gives the parts out. What one loses is there for others when it is no longer used.
  void share() {
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

  static constexpr extent most_wanted = 512;

  const int threads_;
  const std::int64_t bytes_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<tuned_part>> parts_;  // in the order in which they began: who asks comes first
  thread_search search_;
  bool settling_ = true;
  std::int64_t begun_ns_ = 0, begun_given_ = 0, begun_empty_ns_ = 0;
  atomic<int> running_{0};
  atomic<tuned_part*> leader_{nullptr};
  atomic<std::int64_t> look_at_{0};
};

}  // namespace tagma::datasets
