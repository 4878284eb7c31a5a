// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Resources that serve one request after the other, with a thread of their own that sleeps while nobody asks. So what
/// waits for a disk or for somebody else's code holds no thread of a session.

#include <deque>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/resource.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// Somebody who asks for something. It is told once when it has it or was cancelled, and may ask again then, or go.
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
};

class serving : public resource {
 public:
  using resource::resource;

  /// Ends a request with Cancelled, unless it has ended. What is being made for it is for the next one.
  void cancel(served_request& request);
  /// Returns when nobody is in `ended` of a request that has ended: then it may be destroyed.
  void settle() const;
  /// Requests that wait, or are served and were not cancelled.
  [[nodiscard]] std::size_t waiting();
  /// What errors call it.
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  /// `request` lives until it is told. Throws ResourceExhausted if the system has no thread.
  void ask(served_request& request);
  /// Ends the thread, as soon as what it does ends; whoever derives from this calls it as it is destroyed. Nobody asks
  /// any more.
  void stop();
  [[nodiscard]] mutex& lock() { return mutex_; }
  /// With the lock: whether somebody still waits for what is being served.
  [[nodiscard]] bool is_wanted() const { return now_ != nullptr && !stopping_; }

  /// @name What is served, on the thread; in this order.
  /// @{
  /// With the lock: notes what is asked. The request may end and go from here on.
  virtual void begin(const served_request& request) = 0;
  /// Makes it, in memory of its own, or throws.
  virtual void serve() = 0;
  /// With the lock: gives it away.
  virtual void give(served_request& request) = 0;
  /// The same, where nobody wants it any more: it is kept for the next request.
  /// @param error that `serve` threw, or nullptr
  virtual void keep(std::exception_ptr error) = 0;
  /// @}
  /// With the lock, by any thread while something is served: it need not go on. Nobody that this tells may ask for the
  /// lock.
  virtual void interrupt() = 0;

 private:
  void start();
  void work();
  void serve_now();
  [[nodiscard]] std::exception_ptr error_of_cancelled() const noexcept;

  mutex mutex_;
  wait_word asked_;
  std::deque<served_request*> requests_;
  served_request* now_ = nullptr;  // nullptr also where the one that is served was cancelled
  atomic<int> telling_{0};
  bool serves_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/serving.ipp"
#endif
