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

class loop_steps;

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
void name_step(run_control& control, run_steps& steps, std::size_t s, run_control::list l) noexcept;

/// One run at a time. Idle threads of a pool do the steps, as a rule with the thread that calls `run`; a step that uses
/// several threads itself gets those that no step keeps busy. An asynchronous step holds no thread while it waits. A
/// run allocates nothing.
class step_runner final : public shared_work {
 public:
  using step_id = plan::step_graph::step_id;

  step_runner() : shared_work(0) {}
  TAGMA_COLD ~step_runner() = default;

  /// Finds out what waits for what; before that, and until `cost` is filled in, nothing may be run.
  /// @param loops of the plan, if each is to be one step
  void set_plan(const plan::plan_view& plan, const loop_steps* loops = nullptr);
  /// Gives back what a plan takes whose steps are not shared after all.
  void forget_plan();
  /// Step `s` is begun with `start`.
  void set_asynchronous(std::size_t s);
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
  void set_cost(std::size_t s, double cost);
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
  void run(run_control& control, step_pool* threads, bool takes_part, run_steps& steps);

  [[nodiscard]] TAGMA_DECL bool open() const noexcept override;

  TAGMA_DECL void help() noexcept override;

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
    TAGMA_DECL void complete(std::int32_t s, std::exception_ptr error) noexcept override;
    void let_go() override { runner_.let_go(); }

    TAGMA_DECL void begin() override;
    [[nodiscard]] TAGMA_DECL bool passes(step_id s) noexcept override;
    TAGMA_DECL bool serve() override;

   private:
    /// The step that was held first; of those that write, if `writing`.
    [[nodiscard]] step_id take(bool writing);
    [[nodiscard]] bool more_writes();
    void look();
    /// Takes the variables for writing, or reads them. False if the run is stopped, or is by what that throws.
    [[nodiscard]] bool try_to(bool write);

    step_runner& runner_;
    mutex mutex_;
    heap_array<step_id> held_;  // ready but for that
    std::size_t held_count_ = 0;
    bool looked_ = false;  // at the variables that steps read
  };
  void expect_waits();

  /// Does `s`, or begins it; false if it has not ended yet.
  bool did(step_id id, local_steps& local) noexcept;

  /// Does `s` and returns a step that this thread does next, or -1. Of those that became ready, cheap ones stay here
  /// and others are for everybody, except the most urgent one where there is nothing else to do here.
  step_id finish(step_id s, local_steps& local) noexcept;

  /// An asynchronous step has ended, on a thread that need not be one of the run's.
  void complete(std::int32_t s, std::exception_ptr error) noexcept;

  void note_failed(step_id s, std::exception_ptr&& error) noexcept;
  [[nodiscard]] bool becomes_ready(step_id t) noexcept;
  [[nodiscard]] bool may_go(step_id t) noexcept { return steps_[t].waits_for(hold::none) || waits_->passes(t); }

  /// A step has ended and made others ready for everybody.
  void ended(int shared) noexcept;

  void call_helpers(int count) noexcept;

  /// Lets the steps go that were kept back.
  void let_go();

  /// Does a step on this thread, and leaves what becomes ready to whoever comes.
  void do_here(step_id s) noexcept;

  void share(step_id s) noexcept;

  [[nodiscard]] double urgency_of_ready(std::int32_t i) const { return steps_[steps_[i].ready].urgency; }

  // The ready steps are a heap, the most urgent one on top.
  void insert(step_id s) noexcept;

  /// The most urgent step that is ready, or -1.
  step_id take() noexcept;

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

#ifndef TAGMA_COMPILED
#include "tagma/runtime/step_runner.ipp"
#endif
