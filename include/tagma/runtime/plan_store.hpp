// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The bound plans of a session: idle ones, which later runs with the same extents use again, and who is at work.

#include <new>

#include "tagma/base/config.hpp"
#include "tagma/base/control_group.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/closing.hpp"

namespace tagma::runtime {

/// What a session keeps of idle plans unless it is told: a quarter of the memory that the process may use.
/// @param limit that its control groups set, 0 for none
[[nodiscard]] TAGMA_COLD inline std::int64_t default_plan_cache_bytes(
    std::int64_t limit = control_group_limit("memory", &tagma::detail::memory_of_group)) {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const std::int64_t quarter = pages > 0 && page > 0 ? pages / 4 * page : std::int64_t{1} << 30;
  return limit > 0 && limit / 4 < quarter ? limit / 4 : quarter;
}

/// True if there may be memory once others have given some back.
[[nodiscard]] TAGMA_COLD inline bool is_lack_of_memory(const std::exception_ptr& e) noexcept {
  const caught seen(e);
  return seen.code == status_code::resource_exhausted && !seen.never_fits;
}

/// Idle plans, the last used first. Not for several threads at once.
class plan_cache {
 public:
  static constexpr std::size_t most_of_one = 64;  ///< of one fetch: their kernels take memory that is not counted

  void set_budget(std::int64_t bytes) { budget_ = static_cast<std::size_t>(bytes); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }

  /// Takes out a plan that was bound for feeds of these extents; nullptr if there is none.
  [[nodiscard]] owned<bound_plan> take(const plan::plan_view& key, array_view<const raw_view> feeds) {
    for (owned<bound_plan>* p = &first_; *p != nullptr; p = &(*p)->next)
      if (&(*p)->plan() == &key && (*p)->matches(feeds)) return unlink(*p);
    return nullptr;
  }
  /// Keeps a plan. Returns a list of those that go instead: what was idle longest, until the rest is within the budget.
  /// The one that was used last stays in any case, so that a step in a loop binds nothing.
  [[nodiscard]] owned<bound_plan> put(owned<bound_plan> plan) {
    owned<bound_plan> gone;
    std::size_t same = 1;
    for (owned<bound_plan>* p = &first_; *p != nullptr; p = &(*p)->next)
      if (&(*p)->plan() == &plan->plan() && ++same > most_of_one) {
        gone = unlink(*p);
        break;
      }
    bytes_ += plan->arena_bytes();
    plan->next = std::move(first_);
    first_ = std::move(plan);
    while (bytes_ > budget_ && first_->next != nullptr) {
      owned<bound_plan> last = take_oldest();
      last->next = std::move(gone);
      gone = std::move(last);
    }
    return gone;
  }
  /// Takes out what was idle longest; nullptr if nothing is idle.
  [[nodiscard]] TAGMA_COLD owned<bound_plan> take_oldest() {
    if (empty()) return nullptr;
    owned<bound_plan>* last = &first_;
    while ((*last)->next != nullptr) last = &(*last)->next;
    return unlink(*last);
  }

 private:
  [[nodiscard]] owned<bound_plan> unlink(owned<bound_plan>& p) {
    owned<bound_plan> found = std::move(p);
    p = std::move(found->next);
    bytes_ -= found->arena_bytes();
    return found;
  }

  std::size_t budget_ = ~std::size_t{0};
  std::size_t bytes_ = 0;
  owned<bound_plan> first_;
};

/// Who is at work in a session, and with which plan; for several threads. A visit is a run, or whatever else needs the
/// session to live.
class plan_store {
 public:
  TAGMA_COLD plan_store() {
    others& all = of_process();
    const mutex_lock lock(all.access);
    next_ = all.first;
    all.first = this;
  }
  plan_store(const plan_store&) = delete;
  plan_store& operator=(const plan_store&) = delete;
  TAGMA_COLD ~plan_store() {
    others& all = of_process();
    const mutex_lock lock(all.access);
    plan_store** p = &all.first;
    while (*p != this) p = &(*p)->next_;
    *p = next_;
  }

  void set_budget(std::int64_t bytes) { idle_.set_budget(bytes); }
  /// Bytes of the arenas of idle plans.
  [[nodiscard]] std::size_t idle_bytes() {
    const mutex_lock lock(mutex_);
    return idle_.bytes();
  }
  /// What tells runs that the session closes.
  [[nodiscard]] closing& end() { return end_; }

  /// Begins a visit. Throws Cancelled if the session was closed, Aborted if its container was reset.
  /// @param purpose what errors begin with
  TAGMA_COLD void enter(std::string_view purpose) {
    const mutex_lock lock(mutex_);
    count_visit(purpose);
  }
  /// The same for a run, and takes an idle plan for it; nullptr if none fits.
  [[nodiscard, gnu::noinline]] owned<bound_plan> enter(const plan::plan_view& key, array_view<const raw_view> feeds) {
    const mutex_lock lock(mutex_);
    count_visit({});
    return idle_.take(key, feeds);
  }
  /// Ends a visit; afterwards this may be gone.
  /// @param plan that it had, or nullptr
  [[gnu::noinline]] void leave(owned<bound_plan> plan) {
    owned<bound_plan> gone;
    if (plan != nullptr) {
      const mutex_lock lock(mutex_);
      gone = idle_.put(std::move(plan));
      if (gone == nullptr) return count_leave();
    }
    gone = nullptr;  // while the session lives
    const mutex_lock lock(mutex_);
    count_leave();
  }

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
  TAGMA_COLD bool let_one_go() {
    if (let_own_go()) return true;
    others& all = of_process();
    const mutex_lock lock(all.access);  // nobody's session ends meanwhile
    for (plan_store* s = all.first; s != nullptr; s = s->next_)
      if (s != this && s->let_own_go()) return true;
    return false;
  }

  /// No visit begins any more, and those under way are told. Waits until they have ended, and lets idle plans go.
  /// @param patience_ns how long it waits; below 0: as long as it takes
  /// @return false if some have not ended by then
  TAGMA_COLD bool close(std::int64_t patience_ns) noexcept {
    end_.begin();
    const std::int64_t end = patience_ns < 0 ? wait_word::never : now_ns() + patience_ns;
    const mutex_lock lock(mutex_);
    while (visits_ > 0)
      if (!wait(end)) return false;
    while (idle_.take_oldest() != nullptr) continue;
    return true;
  }

 private:
  /// The attempts of one visit to bind a plan. After the first, one visit at a time tries: two would take from each
  /// other what is enough for one.
  class attempts {
   public:
    TAGMA_COLD explicit attempts(plan_store& store) : store_(store) {
      const mutex_lock lock(store.mutex_);
      seen_ = store.freed_;
    }
    attempts(const attempts&) = delete;
    attempts& operator=(const attempts&) = delete;
    TAGMA_COLD ~attempts() {
      if (!alone_) return;
      const mutex_lock lock(store_.mutex_);
      store_.binds_alone_ = false;
      store_.tell();
    }

    /// An attempt failed. True if another may do better.
    TAGMA_COLD bool again(const run_guard& guard) {
      if (store_.let_one_go()) return true;
      owned<bound_plan> gone;
      const mutex_lock lock(store_.mutex_);
      if (end_ == 0) end_ = now_ns() + most_waited;
      if (!alone_ && !hopeless() && !wait_for_turn(guard)) return false;
      while ((gone = store_.idle_.take_oldest()) == nullptr && store_.freed_ == seen_)
        if (store_.at_work() == 1 || !wait(guard)) return false;
      seen_ = store_.freed_;
      return true;
    }

   private:
    static constexpr std::int64_t most_waited = 10'000'000'000, look_again = 10'000'000;

    /// This visit had all memory to itself, and there is nothing that could go.
    [[nodiscard]] bool hopeless() const {
      return store_.idle_.empty() && store_.freed_ == seen_ && store_.at_work() == 1;
    }
    TAGMA_COLD bool wait_for_turn(const run_guard& guard) {
      const waiting here(store_);
      while (store_.binds_alone_)
        if (!wait(guard)) return false;
      alone_ = store_.binds_alone_ = true;
      return true;
    }
    /// Throws where the limits of the run say so; false if it took too long.
    TAGMA_COLD bool wait(const run_guard& guard) {
      guard.check();
      const std::int64_t soon = now_ns() + look_again;
      static_cast<void>(store_.wait(soon < end_ ? soon : end_));
      return now_ns() < end_;
    }

    plan_store& store_;
    std::uint64_t seen_ = 0;
    std::int64_t end_ = 0;
    bool alone_ = false;
  };

  /// A visit that waits for its turn has no memory.
  struct waiting {
    explicit waiting(plan_store& s) : store(s) {
      ++store.waiting_;
      ++store.freed_;
      store.tell();
    }
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
  [[nodiscard]] TAGMA_COLD static others& of_process() {
    static others& all = *new others;  // sessions may end after what is static
    return all;
  }
  bool let_own_go() {
    owned<bound_plan> gone;
    const mutex_lock lock(mutex_);
    gone = idle_.take_oldest();
    return gone != nullptr;
  }

  void count_visit(std::string_view purpose) {
    if (end_.begun()) end_.refuse(purpose);
    ++visits_;
  }
  void count_leave() {
    --visits_;
    ++freed_;
    tell();
  }
  /// Visits that may have memory, or may take some.
  [[nodiscard]] int at_work() const { return visits_ - waiting_; }
  void tell() {
    if (asleep_ > 0) changed_.notify_all();
  }
  /// Waits for a change, asleep and without the lock. False if it is too late for that.
  TAGMA_COLD bool wait(std::int64_t end) {
    const std::int64_t now = end == wait_word::never ? 0 : now_ns();
    if (now >= end) return false;
    ++asleep_;
    if (end == wait_word::never)
      changed_.wait(mutex_);
    else
      changed_.wait_for(mutex_, end - now);
    --asleep_;
    return true;
  }

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
