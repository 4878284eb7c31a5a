// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The budgets of a pass, and who gives its stages their parts of them.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/data/meter.hpp"
#include "tagma/data/thread_search.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::datasets {

/// What the stages of a pass that find their numbers keep at most where nobody says otherwise.
inline constexpr std::int64_t default_bytes = std::int64_t{256} << 20;

/// The part of a stage, and what it tells of itself. Its pass and the tuner use it at once.
struct tuned_part final : counted_object {
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
  [[nodiscard]] bool take_room();

  // Of the tuner.
  const any_stage* of = nullptr;
  bool active = false;
  int most = 1;
  double work = 0;
  extent wanted = 2;
  std::int64_t seen_made = 0, seen_work_ns = 0;
};

/// Keeps the stages of one pass within its budgets, and finds what each should have of them.
class tuner final : public counted_object {
 public:
  tuner(int threads, std::int64_t bytes);

  /// That of a pass; the first stage makes it. Passes of datasets that share nothing have one for each stage.
  [[nodiscard]] static counted<tuner> of(pass_services* services);

  /// A stage begins a pass. What an earlier pass of it found is used again.
  /// @param most threads that make sense
  [[nodiscard]] counted<tuned_part> enter(const any_stage& stage, int most);
  void leave(tuned_part& part);

  /// Whether a thread may begin.
  [[nodiscard]] bool begin_thread();
  void end_thread() { running_.fetch_sub(1); }

  /// There was a larger element than before.
  void grew(tuned_part& part, std::int64_t bytes);
  /// A stage gave an element. Now and then that of the stage nearest to whoever asks leads to other numbers.
  void gave(tuned_part& part);

 private:
  static constexpr std::int64_t window_ns = 20'000'000;
  static constexpr std::size_t many = 64;

  void look(tuned_part& leader, std::int64_t given, std::int64_t now);
  void begin_window(const tuned_part& leader, std::int64_t given, std::int64_t now, std::int64_t elements);

  /// Gives the parts out. What one loses is there for others when it is no longer used.
  void share();

  static constexpr extent most_wanted = 512;

  const int threads_;
  const std::int64_t bytes_;
  std::mutex mutex_;
  std::vector<counted<tuned_part>> parts_;  // in the order in which they began: who asks comes first
  thread_search search_;
  bool settling_ = true;
  std::int64_t begun_ns_ = 0, begun_given_ = 0, begun_empty_ns_ = 0;
  atomic<int> running_{0};
  atomic<tuned_part*> leader_{nullptr};
  atomic<std::int64_t> look_at_{0};
};

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/tuner.ipp"
#endif
