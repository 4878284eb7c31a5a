// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of step_runner.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/kernel.hpp"
#include "tagma/runtime/step_runner.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void name_step(run_control& control, run_steps& steps, std::size_t s,
                                     run_control::list l) noexcept {
  if (!control.wants_name(l)) return;
  try {
    throw error(status_code::cancelled, "not begun");
  } catch (...) {
    control.name(l, steps.named(s, std::current_exception()));
  }
}

TAGMA_COLD TAGMA_DECL void step_runner::set_plan(const plan::plan_view& plan, const loop_steps* loops) {
  graph_ = plan::step_graph(plan);
  if (loops != nullptr) loops->join(graph_);
  steps_ = heap_array<step_state>(graph_.size());
}

TAGMA_COLD TAGMA_DECL void step_runner::forget_plan() {
  graph_ = {};
  steps_ = {};
}

TAGMA_COLD TAGMA_DECL void step_runner::set_asynchronous(std::size_t s) {
  expect_waits();
  steps_[s].asynchronous = steps_[s].cheap = true;
}

TAGMA_COLD TAGMA_DECL void step_runner::set_cost(std::size_t s, double cost) {
  step_state& own = steps_[s];
  own.cheap = own.asynchronous || cost < cheap_below;
  for (std::int32_t e = graph_.first_edge(s); e != 0; e = graph_[e].next)
    if (const double after = steps_[graph_[e].after].urgency; after > own.urgency) own.urgency = after;
  own.urgency += cost;
  if (own.urgency > longest_chain_) longest_chain_ = own.urgency;
}

TAGMA_DECL void step_runner::run(run_control& control, step_pool* threads, bool takes_part, run_steps& steps) {
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
    if (control.ending() || takes_part_) help();
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

TAGMA_DECL bool step_runner::open() const noexcept {
  return ready_count_.load(memory_order::relaxed) > 0 || control_->must_tell();
}

TAGMA_DECL void step_runner::help() noexcept {
  local_steps local;
  do {
    if (control_->must_tell()) control_->tell();
    for (step_id s; (s = take()) >= 0;)
      while (s >= 0) s = finish(s, local);
  } while (control_->must_tell());
}

TAGMA_DECL void step_runner::waits_of_runner::complete(std::int32_t s, std::exception_ptr error) noexcept {
  runner_.complete(s, static_cast<std::exception_ptr&&>(error));
}

TAGMA_DECL void step_runner::waits_of_runner::begin() {
  looked_ = false;
  held_count_ = 0;
}

TAGMA_DECL bool step_runner::waits_of_runner::passes(step_id s) noexcept {
  const step_state& own = runner_.steps_[s];
  if (own.waits_for(hold::last)) return !runner_.holds_back_;
  const mutex_lock lock(mutex_);
  if (own.waits_for(hold::reads) && looked_) return true;
  held_[held_count_++] = s;
  runner_.events_.change(true);
  return false;
}

TAGMA_DECL bool step_runner::waits_of_runner::serve() {
  bool some = false, inside = false;
  for (step_id s = 0; (s = take(inside)) >= 0; some = true) {
    if (runner_.steps_[s].waits_for(hold::reads)) {
      look();
      runner_.share(s);
      runner_.call_helpers(1);
      continue;
    }
    if (!inside) inside = try_to(true);
    runner_.do_here(s);
    if (inside && !more_writes()) {
      runner_.run_->leave();
      inside = false;
    }
  }
  return some;
}

[[gnu::noinline]] TAGMA_DECL bool step_runner::waits_of_runner::try_to(bool write) {
  if (runner_.control_->stopping()) return false;
  try {
    write ? runner_.run_->enter() : runner_.run_->read_variables();
    return true;
  } catch (...) {
    runner_.control_->failed(std::current_exception());
    return false;
  }
}

TAGMA_DECL step_runner::step_id step_runner::waits_of_runner::take(bool writing) {
  const mutex_lock lock(mutex_);
  std::size_t i = 0;
  while (i < held_count_ && writing && !runner_.steps_[held_[i]].waits_for(hold::writes)) ++i;
  if (i == held_count_) return -1;
  const step_id s = held_[i];
  for (--held_count_; i < held_count_; ++i) held_[i] = held_[i + 1];
  return s;
}

TAGMA_DECL bool step_runner::waits_of_runner::more_writes() {
  const mutex_lock lock(mutex_);
  for (std::size_t i = 0; i < held_count_; ++i)
    if (runner_.steps_[held_[i]].waits_for(hold::writes)) return true;
  return false;
}

TAGMA_DECL void step_runner::waits_of_runner::look() {
  if (looked_) return;
  static_cast<void>(try_to(false));
  const mutex_lock lock(mutex_);
  looked_ = true;
}

TAGMA_DECL void step_runner::expect_waits() {
  if (!waits_) waits_ = owned<waits>(new waits_of_runner(*this));
}

TAGMA_DECL bool step_runner::did(step_id id, local_steps& local) noexcept {
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

TAGMA_DECL step_runner::step_id step_runner::finish(step_id s, local_steps& local) noexcept {
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

TAGMA_COLD TAGMA_DECL void step_runner::complete(std::int32_t s, std::exception_ptr error) noexcept {
  const bool failed = error != nullptr;
  if (failed) note_failed(s, static_cast<std::exception_ptr&&>(error));
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

TAGMA_COLD TAGMA_DECL void step_runner::note_failed(step_id s, std::exception_ptr&& error) noexcept {
  control_->failed(run_->named(static_cast<std::size_t>(s), static_cast<std::exception_ptr&&>(error)));
}

TAGMA_DECL bool step_runner::becomes_ready(step_id t) noexcept {
  return steps_[t].pending.fetch_sub(1, memory_order::acq_rel) == 1 && may_go(t);
}

TAGMA_DECL void step_runner::ended(int shared) noexcept {
  if (shared > 0) {
    if (takes_part_) events_.change(true);
    call_helpers(shared);
  }
  if (remaining_.fetch_sub(1, memory_order::acq_rel) == 1) events_.change(true);
}

TAGMA_DECL void step_runner::call_helpers(int count) noexcept {
  if (offered_ && count > 0) threads_->call_helpers(count);
}

TAGMA_COLD TAGMA_DECL void step_runner::let_go() {
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

TAGMA_COLD TAGMA_DECL void step_runner::do_here(step_id s) noexcept {
  local_steps local;
  step_id next = finish(s, local);
  while (next >= 0) {
    share(next);
    next = local.count > 0 ? local.steps[--local.count] : -1;
  }
  call_helpers(ready_count_.load(memory_order::relaxed));
}

TAGMA_DECL void step_runner::share(step_id s) noexcept {
  const mutex_lock lock(mutex_);
  insert(s);
}

[[gnu::noinline]] TAGMA_DECL void step_runner::insert(step_id s) noexcept {
  const std::int32_t count = ready_count_.load(memory_order::relaxed);
  std::int32_t i = count;
  for (; i > 0 && urgency_of_ready((i - 1) / 2) < steps_[s].urgency; i = (i - 1) / 2)
    steps_[i].ready = steps_[(i - 1) / 2].ready;
  steps_[i].ready = s;
  ready_count_.store(count + 1, memory_order::relaxed);
}

[[gnu::noinline]] TAGMA_DECL step_runner::step_id step_runner::take() noexcept {
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

}  // namespace tagma::runtime
