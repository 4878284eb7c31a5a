// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of coordinator.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/coordinator.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL bool status_set::contains(const std::exception_ptr& e) const noexcept {
  if (e == nullptr) return false;
  const runtime::caught seen(e);
  return seen.is_error && contains(seen.code);
}

TAGMA_DECL named_thread& named_thread::operator=(named_thread&& other) noexcept {
  if (this == &other) return *this;
  join();
  state_ = std::move(other.state_);
  thread_ = std::move(other.thread_);
  return *this;
}

TAGMA_DECL void named_thread::join() {
  if (thread_.joinable()) thread_.join();
}

TAGMA_COLD TAGMA_DECL coordinator::~coordinator() {
  stop(nullptr);
  const runtime::run_guard no_end(runtime::no_limits);
  for (const auto& t : left_) static_cast<void>(t->ended.wait(no_end));
  for (const auto& t : threads_) static_cast<void>(t->ended.wait(no_end));
}

TAGMA_DECL void coordinator::request_stop(std::exception_ptr error) {
  if (error != nullptr && clean_.contains(error)) error = nullptr;
  if (!stop(error)) std::rethrow_exception(error);
}

TAGMA_COLD TAGMA_DECL void coordinator::clear_stop() {
  const mutex_lock lock(mutex_);
  error_ = nullptr;
  joined_ = false;
  stop_.reset();
}

TAGMA_DECL bool coordinator::wait_for_stop(std::chrono::duration<double> longest) const {
  run_limits both[] = {stop_with(stop_), timeout(longest)};
  runtime::join(both);
  return wait_for_stop(both[0]);
}

TAGMA_COLD TAGMA_DECL void coordinator::raise_requested_exception() const {
  std::exception_ptr error;
  {
    const mutex_lock lock(mutex_);
    error = error_;
  }
  if (error != nullptr) std::rethrow_exception(error);
}

TAGMA_COLD TAGMA_DECL void coordinator::add(const named_thread& thread) {
  if (thread.state_ != nullptr) add(thread.state_);
}

TAGMA_COLD TAGMA_DECL void coordinator::join(const join_options& options) {
  const runtime::run_guard until_stop{stop_with(stop_)};
  std::size_t ended = 0;
  for (std::shared_ptr<detail::thread_state> t; (t = thread(ended)) != nullptr && t->ended.wait(until_stop);) ++ended;
  std::string alive;
  const runtime::run_guard grace{timeout(options.stop_grace_period)};
  std::vector<std::shared_ptr<detail::thread_state>> others;
  for (std::shared_ptr<detail::thread_state> t; (t = thread(ended)) != nullptr; ++ended) {
    if (t->ended.wait(grace)) continue;
    append_parts(alive, {alive.empty() ? "" : ", ", "'", t->name, "'"});
    others.push_back(std::move(t));
  }
  std::vector<named_thread> done;
  {
    const mutex_lock lock(mutex_);
    joined_ = true;
    threads_.clear();
    for (auto& t : others) left_.push_back(std::move(t));
    std::erase_if(left_, [](const auto& t) { return t->ended.happened(); });
    for (auto at = own_.begin(); at != own_.end();) {
      if (at->is_alive()) {
        ++at;
      } else {
        done.push_back(std::move(*at));
        at = own_.erase(at);
      }
    }
  }
  raise_requested_exception();
  if (!alive.empty() && !options.ignore_live_threads)
    fail(status_code::deadline_exceeded, {"the coordinator has stopped with threads still running: ", alive});
}

TAGMA_COLD TAGMA_DECL void coordinator::add(std::shared_ptr<detail::thread_state> state) {
  const mutex_lock lock(mutex_);
  threads_.push_back(std::move(state));
}

TAGMA_COLD TAGMA_DECL bool coordinator::wait_for_stop(const run_limits& limits) const {
  runtime::wait_word word;
  const runtime::run_guard guard(limits);
  status_code reason;
  while ((reason = guard.over()) == status_code::ok) guard.wait(word, word.load(memory_order::acquire));
  return reason == status_code::cancelled;
}

TAGMA_COLD TAGMA_DECL std::shared_ptr<detail::thread_state> coordinator::thread(std::size_t i) {
  const mutex_lock lock(mutex_);
  if (i >= threads_.size()) return nullptr;
  if (threads_[i].get() == detail::this_thread)
    fail(status_code::failed_precondition, {"thread '", threads_[i]->name, "' would wait for itself"});
  return threads_[i];
}

}  // namespace tagma

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL stop_callback::stop_callback(coordinator& of, std::function<void()> f)
    : coordinator_(of), call_(std::move(f)) {
  {
    const mutex_lock lock(of.mutex_);
    if (!of.stop_.stop_requested()) {
      link();
      return;
    }
  }
  call_();
}

TAGMA_COLD TAGMA_DECL stop_callback::~stop_callback() {
  const mutex_lock lock(coordinator_.mutex_);
  while (called_) coordinator_.called_.wait(coordinator_.mutex_);
  if (linked_) unlink();
}

TAGMA_DECL void stop_callback::link() {
  next_ = coordinator_.callbacks_;
  if (next_ != nullptr) next_->before_ = this;
  coordinator_.callbacks_ = this;
  linked_ = true;
}

TAGMA_DECL void stop_callback::unlink() {
  (before_ == nullptr ? coordinator_.callbacks_ : before_->next_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
  before_ = nullptr;
  linked_ = false;
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL bool coordinator::stop(const std::exception_ptr& error) {
  mutex_.lock();
  if (joined_ && error != nullptr) {
    mutex_.unlock();
    return false;
  }
  if (!stop_.stop_requested()) {
    error_ = error;
    stop_.cancel();
  }
  while (detail::stop_callback* const c = callbacks_) {
    c->unlink();
    c->called_ = true;
    mutex_.unlock();
    c->call_();
    mutex_.lock();
    c->called_ = false;
    called_.notify_all();
  }
  mutex_.unlock();
  return true;
}

TAGMA_DECL void looper::stop() {
  state_->own.cancel();
  state_->thread.join();
}

TAGMA_DECL looper::state::~state() {
  own.cancel();
  thread.join();
}

}  // namespace tagma
