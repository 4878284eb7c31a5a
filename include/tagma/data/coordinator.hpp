// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads that end together: whoever is done or has failed asks all others to stop, and one thread waits for them.

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/event.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma {

/// Status codes: `{status_code::out_of_range, status_code::cancelled}`.
class status_set {
 public:
  constexpr status_set() = default;
  constexpr status_set(std::initializer_list<status_code> codes) {
    for (const status_code c : codes) bits_ |= 1U << static_cast<unsigned>(c);
  }
  /// True if the code is one of them.
  [[nodiscard]] constexpr bool contains(status_code c) const { return (bits_ >> static_cast<unsigned>(c) & 1U) != 0; }
  /// True for a `tagma::error` with one of the codes.
  [[nodiscard]] bool contains(const std::exception_ptr& e) const noexcept;

 private:
  unsigned bits_ = 0;
};

namespace detail {

/// What others know of a thread; it outlives both.
struct thread_state {
  explicit thread_state(std::string n) : name(std::move(n)) {}

  const std::string name;
  runtime::event ended;
};

/// The thread that asks, if it is a `named_thread`.
inline thread_local const thread_state* this_thread = nullptr;

}  // namespace detail

/// A thread of which others can wait for the end for a while. The destructor waits as long as it takes.
class named_thread {
 public:
  /// None.
  named_thread() = default;
  /// Calls `f()`, which throws nothing.
  /// @param name for errors
  /// Throws ResourceExhausted if the system starts no more threads.
  template <class F>
  named_thread(std::string name, F f)
      : named_thread(std::make_shared<detail::thread_state>(std::move(name)), std::move(f)) {}
  named_thread(named_thread&&) noexcept = default;
  named_thread& operator=(named_thread&& other) noexcept;
  ~named_thread() { join(); }

  /// True until the function has returned.
  [[nodiscard]] bool is_alive() const { return state_ != nullptr && !state_->ended.happened(); }
  /// Waits until the function has returned.
  void join();

 private:
  friend class coordinator;

  template <class F>
  named_thread(std::shared_ptr<detail::thread_state> state, F f) : state_(std::move(state)) {
    try {
      thread_ = std::thread([own = state_, f = std::move(f)]() mutable noexcept {
        detail::this_thread = own.get();
        f();
        own->ended.set();
      });
    } catch (const std::system_error&) {
      state_->ended.set();
      fail(status_code::resource_exhausted, {"the system starts no thread '", state_->name, "'"});
    }
  }

  std::shared_ptr<detail::thread_state> state_;
  std::thread thread_;
};

/// How `coordinator::join` waits.
struct join_options {
  std::chrono::duration<double> stop_grace_period{120};  ///< for threads, once they have been asked to stop
  bool ignore_live_threads = false;                      ///< those that run on after it are no error
};

class looper;
namespace detail {
class running;
class stop_callback;
}  // namespace detail

/// Asks threads to stop, keeps the error of the first that failed, and waits for them all:
///
///     tg::coordinator coord;
///     coord.start("producer", [&] {
///       while (!coord.should_stop()) q.enqueue(next(), tg::stop_with(coord.token()));
///     });
///     train();
///     coord.request_stop();
///     coord.join();  // throws what went wrong
///
/// Any thread may call it. It ends after its threads: the destructor requests a stop and waits for those that it knows.
class coordinator {
 public:
  /// @param clean codes of errors that are no errors to it: the end of the data
  explicit coordinator(status_set clean = {status_code::out_of_range}) : clean_(clean) {}
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  ~coordinator();

  /// True from the first request to stop on, until `clear_stop`.
  [[nodiscard]] bool should_stop() const noexcept { return stop_.stop_requested(); }
  /// Cancels what waits when a stop is requested: `q.dequeue(tg::stop_with(coord.token()))`, `session.run(...)`. It has
  /// `stop_requested()`, as std::stop_token has.
  [[nodiscard]] const cancellation& token() const { return stop_; }

  /// Asks all threads to stop. The first request counts: an error that comes later is not kept, also if there was none
  /// with the first, and neither is one with a clean code.
  /// Throws `error` itself if `join` has returned, since nobody would learn of it.
  void request_stop(std::exception_ptr error = nullptr);
  template <class Exception>
    requires std::is_base_of_v<std::exception, Exception>
  void request_stop(const Exception& error) { request_stop(std::make_exception_ptr(error)); }
  /// Takes the request to stop and its error back, for other threads.
  void clear_stop();

  /// Waits, asleep, until a stop is requested.
  void wait_for_stop() const { static_cast<void>(wait_for_stop(stop_with(stop_))); }
  /// The same for a while. False if none was.
  [[nodiscard]] bool wait_for_stop(std::chrono::duration<double> longest) const;

  /// Calls `f()`; what it throws is requested as the reason to stop. True if it threw nothing.
  template <class F>
  bool stop_on_exception(F&& f) {
    try {
      std::forward<F>(f)();
      return true;
    } catch (...) {
      request_stop(std::current_exception());
      return false;
    }
  }
  /// Throws the error that a stop was requested with, if there is one.
  void raise_requested_exception() const;

  /// Starts a thread of the coordinator's own that calls `f()`; what that throws stops all. Behind a `join` that gave
  /// up waiting for it, nobody learns what it throws.
  /// Throws ResourceExhausted if the system starts no more threads.
  template <class F>
  void start(std::string name, F f) {
    named_thread thread = launch(std::move(name), [this, f = std::move(f)]() mutable noexcept {
      try {
        stop_on_exception(f);
      } catch (...) {  // all have joined
      }
    });
    const mutex_lock lock(mutex_);
    own_.push_back(std::move(thread));
  }
  /// A thread for which `join` waits, until the next one.
  void add(const named_thread& thread);

  /// Waits until all threads have ended. From a request to stop on it waits for the grace period at most. The threads
  /// are then forgotten.
  /// Throws the error with which a stop was requested; if there is none, DeadlineExceeded that names the threads that
  /// run on; FailedPrecondition if one of them calls this.
  void join(const join_options& options = {});

 private:
  friend class detail::stop_callback;
  friend class detail::running;
  friend class looper;

  /// A thread that is known before it begins.
  template <class F>
  [[nodiscard]] named_thread launch(std::string name, F f) {
    auto state = std::make_shared<detail::thread_state>(std::move(name));
    add(state);
    return {std::move(state), std::move(f)};
  }
  void add(std::shared_ptr<detail::thread_state> state);

  /// False if there is an error and nobody to learn of it.
  bool stop(const std::exception_ptr& error);

  [[nodiscard]] bool wait_for_stop(const run_limits& limits) const;
  /// Thread `i`, or nothing. One that waits for itself would do so for ever.
  [[nodiscard]] std::shared_ptr<detail::thread_state> thread(std::size_t i);

  const status_set clean_;
  mutable mutex mutex_;
  cancellation stop_;
  std::exception_ptr error_;
  bool joined_ = false;
  detail::stop_callback* callbacks_ = nullptr;
  condition called_;
  std::vector<std::shared_ptr<detail::thread_state>> threads_, left_;  // left_: that run on after a join
  std::vector<named_thread> own_;
};

namespace detail {

/// While it lives, a request to stop calls a function, once; so does the constructor if there was one.
class stop_callback {
 public:
  /// @param f throws nothing and does not end this
  stop_callback(coordinator& of, std::function<void()> f);
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;
  /// Waits while the function is called.
  ~stop_callback();

 private:
  friend class tagma::coordinator;

  void link();
  void unlink();

  coordinator& coordinator_;
  const std::function<void()> call_;
  bool linked_ = false, called_ = false;
  stop_callback* before_ = nullptr;
  stop_callback* next_ = nullptr;
};

}  // namespace detail

/// A thread that calls a function again and again until the coordinator stops: without a pause, or at whole multiples
/// of an interval from its beginning. A call that takes longer is followed by those that it delayed.
class looper {
 public:
  /// @param f called as f(); what it throws stops the coordinator
  /// Throws InvalidArgument for an interval below 0, ResourceExhausted if the system starts no more threads.
  template <class F>
  looper(coordinator& of, std::string name, F f, std::chrono::duration<double> interval = {})
      : state_(std::make_unique<state>(of)) {
    if (interval.count() < 0) fail(status_code::invalid_argument, {"looper '", name, "': the interval is below 0"});
    state_->thread = of.launch(std::move(name), [s = state_.get(), f = std::move(f), interval]() mutable noexcept {
      try {
        s->of.stop_on_exception([&] { s->run(f, time_limit(interval).ns()); });
      } catch (...) {  // all have joined
      }
    });
  }
  looper(looper&&) noexcept = default;
  looper& operator=(looper&&) noexcept = default;

  /// True until the function has returned.
  [[nodiscard]] bool is_alive() const { return state_->thread.is_alive(); }
  /// Ends the loop behind the call that goes on; the coordinator does not stop. So does the destructor.
  void stop();

 private:
  struct state {
    explicit state(coordinator& c) : of(c) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state();
    template <class F>
    void run(F& f, std::int64_t interval_ns) {
      run_limits both[] = {stop_with(own), stop_with(of.token())};
      runtime::join(both);
      const runtime::run_guard stopped(both[0]);
      runtime::wait_word word;
      std::int64_t next = runtime::now_ns();
      while (stopped.over() == status_code::ok) {
        if (const std::int64_t left = next - runtime::now_ns(); interval_ns > 0 && left > 0) {
          run_limits until = both[0];
          until.timeout_ns = left;
          const runtime::run_guard sleeps(until);
          if (sleeps.over() == status_code::ok) sleeps.wait(word, word.load(memory_order::acquire));
          continue;
        }
        next += interval_ns;
        f();
      }
    }

    coordinator& of;
    cancellation own;
    named_thread thread;
  };
  std::unique_ptr<state> state_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/coordinator.ipp"
#endif
