// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the steps of a plan in any order that it allows, on one thread or several: each as soon as those that it waits
/// for are done, the one with most work behind it first.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/plan/step_graph.hpp"
#include "tagma/runtime/completion.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/variable_access.hpp"

namespace tagma::runtime {

/// The steps of one run, as who runs them sees them.
class run_steps {
 public:
  /// Does step `s`; may throw.
  virtual void step(std::size_t s) = 0;
  /// Begins step `s`, which is asynchronous; `done` ends it. Throws if it did not begin.
  virtual void start(std::size_t s, completion done) = 0;
  /// What went wrong in step `s`, in words that name it.
  [[nodiscard]] virtual std::exception_ptr named(std::size_t s, std::exception_ptr error) noexcept = 0;
  // Called by the thread that asked for the run; may wait and throw.

  /// Before steps that were held back may use variables as they are then.
  virtual void enter() {}
  /// Behind them, if others follow.
  virtual void leave() {}
  /// Before the first of the steps that read variables beside what other runs do with them.
  virtual void read_variables() {}
  /// Where devices do the steps: before those that come last, with which the run has its variables to its end.
  virtual void begin_last() {}

 protected:
  ~run_steps() = default;
};

/// Names step `s` in the error of a run that is late, if there is room.
TAGMA_COLD inline void name_step(run_control& control, run_steps& steps, std::size_t s, run_control::list l) noexcept {
  if (!control.wants_name(l)) return;
  try {
    throw error(status_code::cancelled, "not begun");
  } catch (...) {
    control.name(l, steps.named(s, std::current_exception()));
  }
}

/// One run at a time. Idle threads of a pool do the steps, as a rule with the thread that calls `run`; a step that uses
/// several threads itself gets those that no step keeps busy. An asynchronous step holds no thread while it waits. A
/// run allocates nothing.
class step_runner final : public shared_work {
 public:
  using step_id = plan::step_graph::step_id;

  step_runner() : shared_work(0) {}
  TAGMA_COLD ~step_runner() = default;

  /// Finds out what waits for what; before that, and until `cost` is filled in, nothing may be run.
  /// @param loops a loop is one step, its first
  TAGMA_COLD void set_plan(const plan::plan_view& plan, bool loops = false) {
    graph_ = plan::step_graph(plan);
    if (loops) graph_.join_loops();
    steps_ = heap_array<step_state>(graph_.size());
  }
  /// Gives back what a plan takes whose steps are not shared after all.
  TAGMA_COLD void forget_plan() {
    graph_ = {};
    steps_ = {};
  }
  /// Step `s` is begun with `start`.
  TAGMA_COLD void set_asynchronous(std::size_t s) {
    expect_waits();
    steps_[s].asynchronous = steps_[s].cheap = true;
  }
  using hold = step_hold;
  /// Holds steps back; also those behind one that comes last.
  /// @param of tells what a step waits for
  template <class Of>
  TAGMA_COLD void hold_back(const Of& of) {
    expect_waits();
    for (std::size_t s = 0; s < graph_.size(); ++s) {
      step_state& own = steps_[s];
      if (!own.waits_for(hold::last)) own.wait_for(of(s));
      if (!own.waits_for(hold::last)) continue;
      ++late_;
      for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next)
        steps_[graph_[e].after].wait_for(hold::last);
    }
  }
  /// Roughly how long step `s` takes, in nanoseconds. Steps are asked for from the last to the first.
  TAGMA_COLD void set_cost(std::size_t s, double cost) {
    step_state& own = steps_[s];
    own.cheap = own.asynchronous || cost < cheap_below;
    for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next)
      if (const double after = steps_[graph_[e].after].urgency; after > own.urgency) own.urgency = after;
    own.urgency += cost;
    if (own.urgency > longest_chain_) longest_chain_ = own.urgency;
  }
  /// From now on as many threads share the steps, where the thread that calls takes part.
  void set_threads(int threads) { sharing_ = threads; }
  /// False until `set_threads` asked for more than one.
  [[nodiscard]] bool shares() const { return sharing_ > 1; }

  [[nodiscard]] const plan::step_graph& graph() const { return graph_; }
  /// The time of the longest chain of steps, in nanoseconds.
  [[nodiscard]] double longest_chain() const { return longest_chain_; }

  /// Does every step once and returns when all have ended. If something goes wrong, no step begins any more, and
  /// `control` knows why.
  /// @param threads who does the steps; nullptr: the thread that calls
  /// @param takes_part the thread that calls does steps, too
  void run(run_control& control, step_pool* threads, bool takes_part, run_steps& steps) {
    const std::size_t n = graph_.size();
    run_ = &steps;
    control_ = &control;
    threads_ = shares() || !takes_part ? threads : nullptr;
    takes_part_ = takes_part;
    most_helpers = takes_part ? sharing_ - 1 : 1 << 16;
    holds_back_ = late_ > 0;
    remaining_.store(static_cast<std::int32_t>(n) - late_, memory_order::relaxed);
    if (waits_) waits_->begin();
    for (std::size_t s = 0; s < n; ++s) {
      steps_[s].pending.store(graph_.waits(s), memory_order::relaxed);
      if (graph_.waits(s) == 0 && may_go(static_cast<step_id>(s))) insert(static_cast<step_id>(s));
    }
    offered_ = threads_ != nullptr;  // before it is: helpers look
    if (offered_ && !threads_->offer(*this)) offered_ = false;
    if (!offered_) takes_part_ = true;
    call_helpers(ready_count_.load(memory_order::relaxed) - takes_part_);
    for (;;) {
      const std::uint32_t seen = events_.load(memory_order::acquire);
      if (control.stopping() || takes_part_) help();
      if (waits_ && waits_->serve()) continue;
      if (remaining_.load(memory_order::acquire) == 0) {
        if (!holds_back_ || control.stopping()) break;
        waits_->let_go();
      } else {
        control.wait(events_, seen);
      }
    }
    if (offered_) threads_->withdraw(*this);
    const mutex_lock lock(mutex_);  // who completed a step from elsewhere is out of this object
  }

  [[nodiscard]] bool open() const noexcept override {
    return ready_count_.load(memory_order::relaxed) > 0 || control_->must_tell();
  }

  void help() noexcept override {
    local_steps local;
    do {
      if (control_->must_tell()) control_->tell();
      for (step_id s; (s = take()) >= 0;)
        while (s >= 0) s = finish(s, local);
    } while (control_->must_tell());
  }

 private:
  static constexpr double cheap_below = 1500;  // ns: less than it takes to hand a step to another thread

  struct step_state {
    double urgency = 0;  ///< the time from its begin to the end of the run
    atomic<std::int32_t> pending{0};
    step_id ready = 0;  ///< an entry of the heap, not of this step
    bool cheap = false;
    bool asynchronous = false;
    hold held = hold::none;

    // By functions: clang takes as long to read a comparison of enumerations as ten calls.
    [[nodiscard]] bool waits_for(hold h) const noexcept { return static_cast<int>(held) == static_cast<int>(h); }
    void wait_for(hold h) noexcept { held = h; }
  };

  /// Cheap steps that this thread does next.
  struct local_steps {
    step_id steps[16];
    int count = 0;
    step_id last = -1;  ///< the step that this thread did before, if the run went on behind it
  };

  /// What a runner does about asynchronous steps and those that it holds back. A class of its own, so that a program
  /// without them does not compile it.
  class waits : public completion_target {
   public:
    virtual ~waits() = default;
    virtual void begin() = 0;
    /// A step is ready but for what it is held for. True if that is given already.
    [[nodiscard]] virtual bool passes(step_id s) noexcept = 0;
    /// Does what held steps wait for that are ready otherwise; false if there are none.
    [[nodiscard]] virtual bool serve() = 0;
    /// Lets the steps go that come last.
    virtual void let_go() = 0;
  };
  class waits_of_runner final : public waits {
   public:
    explicit waits_of_runner(step_runner& runner) : runner_(runner), held_(runner.graph_.size()) {}
    /// An asynchronous step has ended, on a thread that need not be one of the run's.
    void complete(std::int32_t s, std::exception_ptr error) noexcept override {
      runner_.complete(s, static_cast<std::exception_ptr&&>(error));
    }
    void let_go() override { runner_.let_go(); }

    void begin() override {
      looked_ = false;
      held_count_ = 0;
    }
    [[nodiscard]] bool passes(step_id s) noexcept override {
      const step_state& own = runner_.steps_[s];
      if (own.waits_for(hold::last)) return !runner_.holds_back_;
      const mutex_lock lock(mutex_);
      if (own.waits_for(hold::reads) && looked_) return true;
      held_[held_count_++] = s;
      runner_.events_.change(true);
      return false;
    }
    TAGMA_COLD bool serve() override {
      step_id s = take(false);
      if (s < 0) return false;
      for (bool inside = false; s >= 0; s = take(inside)) {
        if (runner_.steps_[s].waits_for(hold::reads)) {
          look();
          runner_.share(s);
          runner_.call_helpers(1);
          continue;
        }
        if (!inside) inside = try_to([this] { runner_.run_->enter(); });
        runner_.do_here(s);
        if (inside && !more_writes()) {
          runner_.run_->leave();
          inside = false;
        }
      }
      return true;
    }

   private:
    /// The step that was held first; of those that write, if `writing`.
    [[nodiscard]] step_id take(bool writing) {
      const mutex_lock lock(mutex_);
      std::size_t i = 0;
      while (i < held_count_ && writing && !runner_.steps_[held_[i]].waits_for(hold::writes)) ++i;
      if (i == held_count_) return -1;
      const step_id s = held_[i];
      for (--held_count_; i < held_count_; ++i) held_[i] = held_[i + 1];
      return s;
    }
    [[nodiscard]] bool more_writes() {
      const mutex_lock lock(mutex_);
      for (std::size_t i = 0; i < held_count_; ++i)
        if (runner_.steps_[held_[i]].waits_for(hold::writes)) return true;
      return false;
    }
    void look() {
      if (looked_) return;
      static_cast<void>(try_to([this] { runner_.run_->read_variables(); }));
      const mutex_lock lock(mutex_);
      looked_ = true;
    }
    /// False if the run is stopped, or is by what `f` throws.
    template <class F>
    [[nodiscard]] bool try_to(const F& f) {
      if (runner_.control_->stopping()) return false;
      try {
        f();
        return true;
      } catch (...) {
        runner_.control_->failed(std::current_exception());
        return false;
      }
    }

    step_runner& runner_;
    mutex mutex_;
    heap_array<step_id> held_;  // ready but for that
    std::size_t held_count_ = 0;
    bool looked_ = false;  // at the variables that steps read
  };
  void expect_waits() {
    if (!waits_) waits_ = owned<waits>(new waits_of_runner(*this));
  }

  /// Does `s`, or begins it; false if it has not ended yet.
  bool did(step_id id, local_steps& local) noexcept {
    const auto s = static_cast<std::size_t>(id);
    if (control_->stopping()) {
      if (local.last >= 0)
        name_step(*control_, *run_, static_cast<std::size_t>(local.last), run_control::list::done_last);
      local.last = -1;
      name_step(*control_, *run_, s, run_control::list::not_finished);
      return true;
    }
    try {
      if (steps_[s].asynchronous) {
        run_->start(s, completion(*waits_, id));
        return false;
      }
      run_->step(s);
      local.last = id;
    } catch (...) {
      control_->failed(run_->named(s, std::current_exception()));
      control_->tell();
    }
    return true;
  }

  /// Does `s` and returns a step that this thread does next, or -1. Of those that became ready, cheap ones stay here
  /// and others are for everybody, except the most urgent one where there is nothing else to do here.
  step_id finish(step_id s, local_steps& local) noexcept {
    if (!did(s, local)) return local.count > 0 ? local.steps[--local.count] : -1;
    step_id next = -1;
    int shared = 0;
    for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next) {
      step_id t = graph_[e].after;
      if (!becomes_ready(t)) continue;
      if (steps_[t].cheap && local.count < 16) {
        local.steps[local.count++] = t;
        continue;
      }
      if (next >= 0) {
        if (steps_[t].urgency > steps_[next].urgency) {
          const step_id less = next;
          next = t;
          t = less;
        }
        share(t), ++shared;
      } else {
        next = t;
      }
    }
    if (local.count > 0) {
      if (next >= 0) share(next), ++shared;
      next = local.steps[--local.count];
    }
    ended(shared);
    return next;
  }

  /// An asynchronous step has ended, on a thread that need not be one of the run's.
  void complete(std::int32_t s, std::exception_ptr error) noexcept {
    const bool failed = error != nullptr;
    if (failed) control_->failed(run_->named(static_cast<std::size_t>(s), static_cast<std::exception_ptr&&>(error)));
    const mutex_lock lock(mutex_);  // once it is open, the run may be gone
    int shared = 0;
    for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next)
      if (becomes_ready(graph_[e].after)) insert(graph_[e].after), ++shared;
    if (failed) {  // whoever comes first tells those that wait: not this thread, which may hold a lock
      events_.change(true);
      call_helpers(1);
    }
    ended(shared);
  }

  [[nodiscard]] bool becomes_ready(step_id t) noexcept {
    return steps_[t].pending.fetch_sub(1, memory_order::acq_rel) == 1 && may_go(t);
  }
  [[nodiscard]] bool may_go(step_id t) noexcept { return steps_[t].waits_for(hold::none) || waits_->passes(t); }

  /// A step has ended and made others ready for everybody.
  void ended(int shared) noexcept {
    if (shared > 0) {
      if (takes_part_) events_.change(true);
      call_helpers(shared);
    }
    if (remaining_.fetch_sub(1, memory_order::acq_rel) == 1) events_.change(true);
  }

  void call_helpers(int count) noexcept {
    if (offered_ && count > 0) threads_->call_helpers(count);
  }

  /// Lets the steps go that were kept back.
  TAGMA_COLD void let_go() {
    try {
      run_->enter();
    } catch (...) {
      control_->failed(std::current_exception());
      return;
    }
    const mutex_lock lock(mutex_);
    holds_back_ = false;
    remaining_.store(late_, memory_order::relaxed);
    for (std::size_t s = 0; s < graph_.size(); ++s)
      if (steps_[s].waits_for(hold::last) && steps_[s].pending.load(memory_order::acquire) == 0)
        insert(static_cast<step_id>(s));
    call_helpers(ready_count_.load(memory_order::relaxed));
  }

  /// Does a step on this thread, and leaves what becomes ready to whoever comes.
  TAGMA_COLD void do_here(step_id s) noexcept {
    local_steps local;
    step_id next = finish(s, local);
    while (next >= 0) {
      share(next);
      next = local.count > 0 ? local.steps[--local.count] : -1;
    }
    call_helpers(ready_count_.load(memory_order::relaxed));
  }

  void share(step_id s) noexcept {
    const mutex_lock lock(mutex_);
    insert(s);
  }

  [[nodiscard]] double urgency_of_ready(std::int32_t i) const { return steps_[steps_[i].ready].urgency; }

  // The ready steps are a heap, the most urgent one on top.
  [[gnu::noinline]] void insert(step_id s) noexcept {
    const std::int32_t count = ready_count_.load(memory_order::relaxed);
    std::int32_t i = count;
    for (; i > 0 && urgency_of_ready((i - 1) / 2) < steps_[s].urgency; i = (i - 1) / 2)
      steps_[i].ready = steps_[(i - 1) / 2].ready;
    steps_[i].ready = s;
    ready_count_.store(count + 1, memory_order::relaxed);
  }

  /// The most urgent step that is ready, or -1.
  [[gnu::noinline]] step_id take() noexcept {
    const mutex_lock lock(mutex_);
    const std::int32_t count = ready_count_.load(memory_order::relaxed) - 1;
    if (count < 0) return -1;
    const step_id top = steps_[0].ready, last = steps_[count].ready;
    std::int32_t i = 0;
    for (std::int32_t child = 1; child < count; child = 2 * i + 1) {
      if (child + 1 < count && urgency_of_ready(child + 1) > urgency_of_ready(child)) ++child;
      if (steps_[last].urgency >= urgency_of_ready(child)) break;
      steps_[i].ready = steps_[child].ready;
      i = child;
    }
    steps_[i].ready = last;
    ready_count_.store(count, memory_order::relaxed);
    return top;
  }

  plan::step_graph graph_;
  heap_array<step_state> steps_;
  owned<waits> waits_;
  double longest_chain_ = 0;
  int sharing_ = 1;
  std::int32_t late_ = 0;  ///< steps that come last
  atomic<std::int32_t> ready_count_{0};
  atomic<std::int32_t> remaining_{0};
  wait_word events_;
  mutex mutex_;
  run_steps* run_ = nullptr;
  run_control* control_ = nullptr;
  step_pool* threads_ = nullptr;
  bool offered_ = false;
  bool takes_part_ = true;
  bool holds_back_ = false;
};

}  // namespace tagma::runtime
