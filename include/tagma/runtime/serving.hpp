// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Resources that serve one request after the other, with a thread of their own that sleeps while nobody asks. So what
/// waits for a disk or for somebody else's code holds no thread of a session.

#include <sched.h>

#include <deque>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/resource.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// Somebody who asks for something. It is told once when it has it, and may ask again then.
class served_request {
 public:
  served_request() = default;
  served_request(const served_request&) = delete;
  served_request& operator=(const served_request&) = delete;

 protected:
  ~served_request() = default;

 private:
  friend class serving;

  /// Told by any thread; no lock is held.
  /// @param error nullptr if it has what it asked for
  virtual void ended(std::exception_ptr error) noexcept = 0;

  bool cancelled_ = false;
};

class serving : public resource {
 public:
  using resource::resource;

  /// Ends a request with Cancelled, unless it has ended.
  TAGMA_COLD void cancel(served_request& request) {
    {
      const mutex_lock lock(mutex_);
      if (now_ == &request) {
        request.cancelled_ = true;
        return interrupt(request);
      }
      bool waited = false;
      for (auto at = requests_.begin(); at != requests_.end() && !waited; ++at)
        if (*at == &request) {
          requests_.erase(at);
          waited = true;
          break;
        }
      if (!waited) return;
      telling_.fetch_add(1);
    }
    request.ended(error_of_cancelled());
    telling_.fetch_sub(1, memory_order::release);
  }
  /// Returns when nobody is in `ended` of a request that has ended: then it may be destroyed.
  void settle() const {
    while (telling_.load(memory_order::acquire) != 0) sched_yield();
  }
  /// What errors call it.
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  /// `request` lives until it is told. Throws ResourceExhausted if the system has no thread.
  TAGMA_COLD void ask(served_request& request) {
    request.cancelled_ = false;
    {
      const mutex_lock lock(mutex_);
      if (!thread_.joinable()) start();
      requests_.push_back(&request);
    }
    asked_.change(true);
  }
  /// Ends the thread; whoever derives from this calls it as it is destroyed. Nobody asks any more.
  TAGMA_COLD void stop() {
    if (!thread_.joinable()) return;
    {
      const mutex_lock lock(mutex_);
      stopping_ = true;
    }
    asked_.change(true);
    thread_.join();
  }
  [[nodiscard]] mutex& lock() { return mutex_; }
  /// With the lock.
  [[nodiscard]] static bool is_cancelled(const served_request& request) { return request.cancelled_; }

  /// On the thread: does what is asked, or throws.
  virtual void serve(served_request& request) = 0;
  /// With the lock, while `request` is served: whoever serves it need not go on. Nobody that this tells may ask for the
  /// lock.
  virtual void interrupt(served_request& request) = 0;
  /// With the lock: `request` was served.
  virtual void given(served_request&) {}
  /// The same, but nobody wants it any more.
  virtual void take_back(served_request&) {}

 private:
  void start() {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      fail(status_code::resource_exhausted, {text(), ": the system has no thread for it"});
    }
  }
  void work() {
    for (;;) {
      const std::uint32_t seen = asked_.load(memory_order::acquire);
      {
        const mutex_lock lock(mutex_);
        if (stopping_) return;
        if (!requests_.empty()) {
          now_ = requests_.front();
          requests_.pop_front();
        }
      }
      if (now_ == nullptr)
        asked_.wait(seen);
      else
        serve_now();
    }
  }
  void serve_now() {
    served_request& r = *now_;
    std::exception_ptr error;
    try {
      serve(r);
    } catch (...) {
      error = std::current_exception();
    }
    {
      const mutex_lock lock(mutex_);
      if (error == nullptr) r.cancelled_ ? take_back(r) : given(r);
      if (r.cancelled_) error = error_of_cancelled();
      now_ = nullptr;
      telling_.fetch_add(1);
    }
    r.ended(std::move(error));
    telling_.fetch_sub(1, memory_order::release);
  }
  [[nodiscard]] TAGMA_COLD std::exception_ptr error_of_cancelled() const noexcept {
    try {
      fail(status_code::cancelled, {text(), ": the request was cancelled"});
    } catch (...) {
      return std::current_exception();
    }
  }

  mutex mutex_;
  wait_word asked_;
  std::deque<served_request*> requests_;
  served_request* now_ = nullptr;  // the thread alone changes it, with the lock
  atomic<int> telling_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tagma::runtime
