// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of serving.hpp: in the compiled half, or else in each file that includes it.

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "tagma/base/config.hpp"
#include "tagma/runtime/serving.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void serving::cancel(served_request& request) {
  {
    const mutex_lock lock(mutex_);
    if (now_ == &request) {
      now_ = nullptr;
      interrupt();
    } else {
      const auto at = std::find(requests_.begin(), requests_.end(), &request);
      if (at == requests_.end()) return;
      requests_.erase(at);
    }
    telling_.fetch_add(1);
  }
  request.ended(error_of_cancelled());
  telling_.fetch_sub(1, memory_order::release);
}

TAGMA_COLD TAGMA_DECL std::size_t serving::waiting() {
  const mutex_lock lock(mutex_);
  return requests_.size() + (now_ != nullptr);
}

TAGMA_DECL void serving::settle() const {
  while (telling_.load(memory_order::acquire) != 0) sched_yield();
}

TAGMA_COLD TAGMA_DECL void serving::ask(served_request& request) {
  {
    const mutex_lock lock(mutex_);
    if (!thread_.joinable()) start();
    requests_.push_back(&request);
  }
  asked_.change(true);
}

TAGMA_COLD TAGMA_DECL void serving::stop() {
  if (!thread_.joinable()) return;
  {
    const mutex_lock lock(mutex_);
    stopping_ = true;
    if (serves_) interrupt();
  }
  asked_.change(true);
  thread_.join();
}

TAGMA_DECL void serving::start() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    fail(status_code::resource_exhausted, {text(), ": the system has no thread for it"});
  }
}

TAGMA_DECL void serving::work() {
  for (;;) {
    const std::uint32_t seen = asked_.load(memory_order::acquire);
    {
      const mutex_lock lock(mutex_);
      if (stopping_) return;
      if (!requests_.empty()) {
        now_ = requests_.front();
        requests_.pop_front();
        begin(*now_);
        serves_ = true;
      }
    }
    if (serves_)
      serve_now();
    else
      asked_.wait(seen);
  }
}

TAGMA_DECL void serving::serve_now() {
  std::exception_ptr error;
  try {
    serve();
  } catch (...) {
    error = std::current_exception();
  }
  served_request* asked = nullptr;
  {
    const mutex_lock lock(mutex_);
    serves_ = false;
    asked = std::exchange(now_, nullptr);
    if (asked == nullptr) return keep(std::move(error));
    if (error == nullptr) give(*asked);
    telling_.fetch_add(1);
  }
  asked->ended(std::move(error));
  telling_.fetch_sub(1, memory_order::release);
}

TAGMA_COLD TAGMA_DECL std::exception_ptr serving::error_of_cancelled() const noexcept {
  try {
    fail(status_code::cancelled, {text(), ": the request was cancelled"});
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace tagma::runtime
