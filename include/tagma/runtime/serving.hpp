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
  void cancel(served_request& request);
  /// Returns when nobody is in `ended` of a request that has ended: then it may be destroyed.
  void settle() const;
  /// Requests that wait, or are served.
  [[nodiscard]] std::size_t waiting();
  /// What errors call it.
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  /// `request` lives until it is told. Throws ResourceExhausted if the system has no thread.
  void ask(served_request& request);
  /// Ends the thread; whoever derives from this calls it as it is destroyed. Nobody asks any more.
  void stop();
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
  void start();
  void work();
  void serve_now();
  [[nodiscard]] std::exception_ptr error_of_cancelled() const noexcept;

  mutex mutex_;
  wait_word asked_;
  std::deque<served_request*> requests_;
  served_request* now_ = nullptr;  // the thread alone changes it, with the lock
  atomic<int> telling_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/serving.ipp"
#endif
