// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the steps of a plan on several threads: each as soon as those that it waits for are done, the one with most
/// work behind it first.

#include <exception>

#include "tagma/base/atomic.hpp"
#include "tagma/plan/step_graph.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// One run at a time. The thread that calls `run` takes part, idle threads of the executor help, and a step that uses
/// several threads itself gets those that no step keeps busy. A run allocates nothing.
class step_runner final : public shared_work {
 public:
  using step_id = plan::step_graph::step_id;
  /// Does step `s`; may throw.
  using step_function = void (*)(void* context, std::size_t s);

  step_runner() : shared_work(0) {}
  TAGMA_COLD ~step_runner() = default;

  /// Finds out what waits for what; before that, and until `cost` is filled in, nothing may be run.
  TAGMA_COLD void set_plan(const plan::plan_view& plan) {
    graph_ = plan::step_graph(plan);
    steps_ = heap_array<step_state>(graph_.size());
  }
  /// Gives back what a plan takes whose steps are not shared after all.
  TAGMA_COLD void forget_plan() {
    graph_ = {};
    steps_ = {};
  }
  /// Roughly how long step `s` takes, in nanoseconds. Steps are asked for from the last to the first.
  TAGMA_COLD void set_cost(std::size_t s, double cost) {
    step_state& own = steps_[s];
    own.cheap = cost < cheap_below;
    for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next)
      if (const double after = steps_[index(graph_[e].after)].urgency; after > own.urgency) own.urgency = after;
    own.urgency += cost;
    if (own.urgency > longest_chain_) longest_chain_ = own.urgency;
  }
  /// From now on as many threads share the steps.
  void set_threads(int threads) { most_helpers = threads - 1; }
  /// False until `set_threads` asked for more than one.
  [[nodiscard]] bool shares() const { return most_helpers > 0; }

  [[nodiscard]] const plan::step_graph& graph() const { return graph_; }
  /// The time of the longest chain of steps, in nanoseconds.
  [[nodiscard]] double longest_chain() const { return longest_chain_; }

  /// Does every step once and returns when all have ended. The first exception is thrown again here; steps that had
  /// not begun by then are left out.
  void run(executor& threads, step_function step, void* context) {
    const std::size_t n = graph_.size();
    step_ = step;
    context_ = context;
    threads_ = &threads;
    failed_.store(false, memory_order::relaxed);
    error_ = nullptr;
    remaining_.store(static_cast<std::int32_t>(n), memory_order::relaxed);
    for (std::size_t s = 0; s < n; ++s) {
      steps_[s].pending.store(graph_.waits(s), memory_order::relaxed);
      if (graph_.waits(s) == 0) insert(static_cast<step_id>(s));
    }
    offered_ = threads.offer(*this);
    if (offered_ && ready_count_.load(memory_order::relaxed) > 1)
      threads.call_helpers(ready_count_.load(memory_order::relaxed) - 1);
    for (;;) {
      const std::uint32_t seen = events_.load(memory_order::acquire);
      help();
      if (remaining_.load(memory_order::acquire) == 0) break;
      events_.wait(seen);
    }
    if (offered_) threads.withdraw(*this);
    if (error_) std::rethrow_exception(error_);
  }

  [[nodiscard]] bool open() const noexcept override { return ready_count_.load(memory_order::relaxed) > 0; }

  void help() noexcept override {
    local_steps local;
    for (step_id s; (s = take()) >= 0;)
      while (s >= 0) s = finish(s, local);
  }

 private:
  static constexpr double cheap_below = 1500;  // ns: less than it takes to hand a step to another thread

  struct step_state {
    double urgency = 0;  ///< the time from its begin to the end of the run
    atomic<std::int32_t> pending{0};
    step_id ready = 0;  ///< an entry of the heap, not of this step
    bool cheap = false;
  };

  /// Cheap steps that this thread does next.
  struct local_steps {
    step_id steps[16];
    int count = 0;
  };

  template <class Index>
  [[nodiscard]] static std::size_t index(Index i) {
    return static_cast<std::size_t>(i);
  }

  /// Does `s` and returns a step that this thread does next, or -1. Of those that became ready, cheap ones stay here
  /// and others are for everybody, except the most urgent one where there is nothing else to do here.
  step_id finish(step_id s, local_steps& local) noexcept {
    if (!failed_.load(memory_order::relaxed)) {
      try {
        step_(context_, index(s));
      } catch (...) {
        if (!failed_.exchange(true, memory_order::relaxed)) error_ = std::current_exception();
      }
    }
    step_id next = -1;
    int shared = 0;
    for (std::int32_t e = graph_.first_edge(index(s)); e != 0; e = graph_[e].next) {
      step_id t = graph_[e].after;
      if (steps_[index(t)].pending.fetch_sub(1, memory_order::acq_rel) != 1) continue;
      if (steps_[index(t)].cheap && local.count < 16) {
        local.steps[local.count++] = t;
        continue;
      }
      if (next >= 0) {
        if (steps_[index(t)].urgency > steps_[index(next)].urgency) {
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
    if (shared > 0) announce(shared);
    if (remaining_.fetch_sub(1, memory_order::acq_rel) == 1) announce(0);
    return next;
  }

  void announce(int steps) noexcept {
    events_.change(true);  // for the caller of `run`, should it wait
    if (steps > 0 && offered_) threads_->call_helpers(steps);
  }

  void share(step_id s) noexcept {
    const mutex_lock lock(mutex_);
    insert(s);
  }

  [[nodiscard]] double urgency_of_ready(std::size_t i) const { return steps_[index(steps_[i].ready)].urgency; }

  // The ready steps are a heap, the most urgent one on top.
  [[gnu::noinline]] void insert(step_id s) noexcept {
    const std::int32_t count = ready_count_.load(memory_order::relaxed);
    std::size_t i = index(count);
    for (; i > 0 && urgency_of_ready((i - 1) / 2) < steps_[index(s)].urgency; i = (i - 1) / 2)
      steps_[i].ready = steps_[(i - 1) / 2].ready;
    steps_[i].ready = s;
    ready_count_.store(count + 1, memory_order::relaxed);
  }

  /// The most urgent step that is ready, or -1.
  [[gnu::noinline]] step_id take() noexcept {
    const mutex_lock lock(mutex_);
    const std::int32_t count = ready_count_.load(memory_order::relaxed) - 1;
    if (count < 0) return -1;
    const step_id top = steps_[0].ready, last = steps_[index(count)].ready;
    std::size_t i = 0;
    for (std::size_t child = 1; child < index(count); child = 2 * i + 1) {
      if (child + 1 < index(count) && urgency_of_ready(child + 1) > urgency_of_ready(child)) ++child;
      if (steps_[index(last)].urgency >= urgency_of_ready(child)) break;
      steps_[i].ready = steps_[child].ready;
      i = child;
    }
    steps_[i].ready = last;
    ready_count_.store(count, memory_order::relaxed);
    return top;
  }

  plan::step_graph graph_;
  heap_array<step_state> steps_;
  double longest_chain_ = 0;
  atomic<std::int32_t> ready_count_{0};
  atomic<std::int32_t> remaining_{0};
  wait_word events_;
  atomic<bool> failed_{false};
  std::exception_ptr error_;
  mutex mutex_;
  step_function step_ = nullptr;
  void* context_ = nullptr;
  executor* threads_ = nullptr;
  bool offered_ = false;
};

}  // namespace tagma::runtime
