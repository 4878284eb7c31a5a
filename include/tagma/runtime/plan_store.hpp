// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The bound plans of a session: idle ones, which later runs with the same extents use again, and who is at work.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/closing.hpp"

namespace tagma::runtime {

/// What a session keeps of idle plans unless it is told: a quarter of the memory that the process may use.
/// @param limit that its control groups set, 0 for none
[[nodiscard]] std::int64_t default_plan_cache_bytes(std::int64_t limit);
/// The same with the limit that was there when it was called first: the files that have it are slow to read.
[[nodiscard]] std::int64_t default_plan_cache_bytes();

/// True if there may be memory once others have given some back.
[[nodiscard]] bool is_lack_of_memory(const std::exception_ptr& e) noexcept;

/// Idle plans, the last used first. Not for several threads at once.
class plan_cache {
 public:
  static constexpr std::size_t most_of_one = 64;  ///< of one fetch: their kernels take memory that is not counted

  void set_budget(std::int64_t bytes) { budget_ = static_cast<std::size_t>(bytes); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }

  /// Takes out a plan that was bound for feeds of these extents; nullptr if there is none.
  [[nodiscard]] owned<bound_plan> take(const plan::plan_view& key, array_view<const raw_view> feeds);
  /// Keeps a plan. Returns a list of those that go instead: what was idle longest, until the rest is within the budget.
  /// The one that was used last stays in any case, so that a step in a loop binds nothing.
  [[nodiscard]] owned<bound_plan> put(owned<bound_plan> plan);
  /// Takes out what was idle longest; nullptr if nothing is idle.
  [[nodiscard]] owned<bound_plan> take_oldest();

 private:
  [[nodiscard]] owned<bound_plan> unlink(owned<bound_plan>& p);

  std::size_t budget_ = ~std::size_t{0};
  std::size_t bytes_ = 0;
  owned<bound_plan> first_;
};

/// Who is at work in a session, and with which plan; for several threads. A visit is a run, or whatever else needs the
/// session to live.
class plan_store {
 public:
  plan_store();
  plan_store(const plan_store&) = delete;
  plan_store& operator=(const plan_store&) = delete;
  ~plan_store();

  void set_budget(std::int64_t bytes) { idle_.set_budget(bytes); }
  /// Bytes of the arenas of idle plans.
  [[nodiscard]] std::size_t idle_bytes();
  /// What tells runs that the session closes.
  [[nodiscard]] closing& end() { return end_; }

  /// Begins a visit. Throws Cancelled if the session was closed, Aborted if its container was reset.
  /// @param purpose what errors begin with
  void enter(std::string_view purpose);
  /// The same for a run, and takes an idle plan for it; nullptr if none fits.
  [[nodiscard]] owned<bound_plan> enter(const plan::plan_view& key, array_view<const raw_view> feeds);
  /// Ends a visit; afterwards this may be gone.
  /// @param plan that it had, or nullptr
  void leave(owned<bound_plan> plan);

  /// What `make` returns, inside a visit. Where it finds no memory, idle plans go, the one that was idle longest first,
  /// and then those of other sessions; then it waits until other visits end, up to ten seconds; and each time it tries
  /// again. Throws the last error of `make` if nothing helps.
  template <class Make>
  [[nodiscard]] owned<bound_plan> bind(const run_guard& guard, Make make) {
    for (attempts tries(*this);;) {
      try {
        return make();
      } catch (...) {
        if (!is_lack_of_memory(std::current_exception()) || !tries.again(guard)) throw;
      }
    }
  }

  /// Lets go what was idle longest here, or else in another session of the process. False if nothing is idle.
  bool let_one_go();

  /// No visit begins any more, and those under way are told. Waits until they have ended, and lets idle plans go.
  /// @param patience_ns how long it waits; below 0: as long as it takes
  /// @return false if some have not ended by then
  bool close(std::int64_t patience_ns) noexcept;

 private:
  /// The attempts of one visit to bind a plan. After the first, one visit at a time tries: two would take from each
  /// other what is enough for one.
  class attempts {
   public:
    explicit attempts(plan_store& store);
    attempts(const attempts&) = delete;
    attempts& operator=(const attempts&) = delete;
    ~attempts();

    /// An attempt failed. True if another may do better.
    bool again(const run_guard& guard);

   private:
    static constexpr std::int64_t most_waited = 10'000'000'000, look_again = 10'000'000;

    /// This visit had all memory to itself, and there is nothing that could go.
    [[nodiscard]] bool hopeless() const;
    bool wait_for_turn(const run_guard& guard);
    /// Throws where the limits of the run say so; false if it took too long.
    bool wait(const run_guard& guard);

    plan_store& store_;
    std::uint64_t seen_ = 0;
    std::int64_t end_ = 0;
    bool alone_ = false;
  };

  /// A visit that waits for its turn has no memory.
  struct waiting {
    explicit waiting(plan_store& s);
    ~waiting() { --store.waiting_; }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    plan_store& store;
  };

  /// All stores of the process.
  struct others {
    mutex access;
    plan_store* first = nullptr;
  };
  [[nodiscard]] static others& of_process();
  bool let_own_go();

  void count_visit(std::string_view purpose);
  void count_leave();
  /// Visits that may have memory, or may take some.
  [[nodiscard]] int at_work() const { return visits_ - waiting_; }
  void tell();
  /// Waits for a change, asleep and without the lock. False if it is too late for that.
  bool wait(std::int64_t end);

  plan_store* next_ = nullptr;
  closing end_;
  mutex mutex_;
  condition changed_;
  plan_cache idle_;
  int visits_ = 0;
  int waiting_ = 0;  // of them, for their turn to bind
  int asleep_ = 0;
  bool binds_alone_ = false;
  std::uint64_t freed_ = 0;  // changes behind which there may be more memory
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/plan_store.ipp"
#endif
