// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue_runner.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/queue_runner.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL running::running(counted<runtime::queue> fills, std::vector<function> fill,
                                       const queue_runner_options& options)
    : queue_(std::move(fills)), fill_(std::move(fill)), options_(options) {
  if (options.threads < 1)
    fail(status_code::invalid_argument, {"a runner of ", queue_->text(), " has ", options.threads, " threads"});
  if (fill_.empty()) fail(status_code::invalid_argument, {"a runner of ", queue_->text(), " has nothing to run"});
}

TAGMA_COLD TAGMA_DECL running::~running() {
  if (left_.load(memory_order::acquire) == 0) return;
  stop_.cancel();
  queue_->close_now();
  threads_.clear();
}

TAGMA_COLD TAGMA_DECL int running::start(coordinator* with) {
  const mutex_lock lock(starting_);
  if (is_running()) return 0;
  threads_.clear();
  error_ = nullptr;
  coordinator_ = with;
  const int count = static_cast<int>(fill_.size()) * options_.threads;
  threads_.reserve(static_cast<std::size_t>(count));
  if (with != nullptr) on_stop_.emplace(*with, [q = queue_] { q->close_now(); });
  left_.store(count, memory_order::release);
  for (int i = 0; i < count; ++i) {
    const std::size_t which = static_cast<std::size_t>(i) / static_cast<std::size_t>(options_.threads);
    try {
      std::string name = sentence({"runner ", i, " of ", queue_->text()});
      const auto body = [this, which] { run(fill_[which]); };
      threads_.push_back(with == nullptr ? named_thread(std::move(name), body) : with->launch(std::move(name), body));
    } catch (...) {
      stop_.cancel();
      queue_->close_now();
      for (int missing = count - static_cast<int>(threads_.size()); missing > 0; --missing) leave();
      threads_.clear();
      throw;
    }
  }
  return count;
}

TAGMA_COLD TAGMA_DECL void running::join() {
  {
    const mutex_lock lock(starting_);
    for (named_thread& t : threads_) t.join();
  }
  const mutex_lock lock(mutex_);
  if (error_ != nullptr) std::rethrow_exception(error_);
}

TAGMA_DECL void running::run(const function& fill) noexcept {
  run_limits limits[] = {stop_with(stop_), {}};
  if (coordinator_ != nullptr) limits[1] = stop_with(coordinator_->token());
  runtime::join(limits);
  const runtime::run_guard guard(limits[0]);
  try {
    while (guard.over() == status_code::ok) fill(limits[0]);
  } catch (...) {
    failed(std::current_exception());
  }
  leave();
}

TAGMA_COLD TAGMA_DECL void running::failed(std::exception_ptr error) noexcept {
  if (options_.closed.contains(error) || stop_.stop_requested()) return;
  if (coordinator_ != nullptr) {
    try {
      if (coordinator_->should_stop() && cancelled.contains(error)) return;
      coordinator_->request_stop(error);
      return;
    } catch (...) {  // all have joined: the runner keeps it
    }
  }
  {
    const mutex_lock lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
  }
  close();
}

TAGMA_COLD TAGMA_DECL void running::leave() noexcept {
  if (ending_.fetch_add(1) + 1 == static_cast<int>(fill_.size()) * options_.threads) {
    close();
    on_stop_.reset();
    ending_.store(0);
  }
  left_.fetch_sub(1, memory_order::acq_rel);
}

TAGMA_COLD TAGMA_DECL void running::close() noexcept {
  try {
    run_limits limits[] = {stop_with(stop_), {}};
    if (coordinator_ != nullptr) limits[1] = stop_with(coordinator_->token());
    runtime::join(limits);
    const runtime::run_guard guard(limits[0]);
    awaited_attempt attempt;
    queue_->close(attempt);
    attempt.wait(*queue_, guard);
  } catch (...) {
    if (!queue_->is_closed()) queue_->close_now();
  }
}

}  // namespace tagma::detail
