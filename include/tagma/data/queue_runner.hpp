// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads that fill a queue and close it when they end.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/coordinator.hpp"
#include "tagma/data/queue.hpp"
#include "tagma/expr/op/queue.hpp"

namespace tagma {

template <expression... E>
struct fetch_list;

/// Threads of a queue runner, and the errors that end them well.
struct queue_runner_options {
  int threads = 1;                                 ///< for each function or operation
  status_set closed = {status_code::out_of_range}; /**< codes of errors by which a thread has come to the end of its
                                                        data */
};

namespace detail {

/// What a runner does, and its threads. It does not move.
class running {
 public:
  using function = std::function<void(const run_limits&)>;

  running(counted<runtime::queue> fills, std::vector<function> fill, const queue_runner_options& options);
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running();

  [[nodiscard]] bool is_running() const { return left_.load(memory_order::acquire) > 0; }
  int start(coordinator* with);
  void join();

 private:
  void run(const function& fill) noexcept;
  void failed(std::exception_ptr error) noexcept;
  /// A thread ends; the last one closes the queue.
  void leave() noexcept;
  /// Closes the queue behind those who wait to enqueue, unless it is closed.
  void close() noexcept;

  static constexpr status_set cancelled = {status_code::cancelled};

  const counted<runtime::queue> queue_;
  const std::vector<function> fill_;
  const queue_runner_options options_;
  cancellation stop_;  // at its end
  coordinator* coordinator_ = nullptr;
  std::optional<stop_callback> on_stop_;
  atomic<int> left_{0}, ending_{0};
  mutex mutex_, starting_;
  std::exception_ptr error_;
  std::vector<named_thread> threads_;
};

}  // namespace detail

namespace diagnose {
/// Position of a queue among the resources of a program, -1 if it is none of them.
template <class Tables>
[[nodiscard]] constexpr int position_of_queue(std::string_view name) {
  for (std::size_t i = 0; i < Tables::resources.size(); ++i)
    if (Tables::resources[i].name == name && Tables::resources[i].kind == "queue") return static_cast<int>(i);
  return -1;
}
template <class Queue, class Session>
inline constexpr bool is_queue_of = Session::tables::is_late ||
                                    position_of_queue<typename Session::tables>(Queue::name) >= 0;
}  // namespace diagnose

/// Threads that call functions again and again, each of which adds to one queue. A thread ends with a function that
/// throws OutOfRange, at the end of what it reads; the last thread to end closes the queue, so that those who read it
/// come to an end as well.
///
/// With a coordinator another error stops all, and a stop closes the queue at once: who waits to enqueue is cancelled.
/// Without one, the first other error closes the queue behind those who wait to enqueue, and `join` throws it. The
/// destructor closes the queue at once and waits for the threads.
class queue_runner {
 public:
  /// What a thread calls; the limits end with the runner and its coordinator, and are for whatever it waits for.
  using function = detail::running::function;

  /// @param fill functions, each for `options.threads` threads
  /// Throws InvalidArgument if there are no functions or threads.
  template <class... Specs>
  TAGMA_COLD queue_runner(const queue<Specs...>& fills, std::vector<function> fill,
                          const queue_runner_options& options = {})
      : running_(std::make_unique<detail::running>(counted<runtime::queue>(&fills.state()), std::move(fill), options)) {
  }
  /// @param fill called as fill(limits) or fill()
  template <class... Specs, class F>
    requires(std::is_invocable_v<F&, const run_limits&> || std::is_invocable_v<F&>)
  queue_runner(const queue<Specs...>& fills, F fill, const queue_runner_options& options = {})
      : queue_runner(fills, std::vector<function>{with_limits(std::move(fill))}, options) {}
  /// Runs operations of a session, which must outlive this: `tg::queue_runner(loader, examples, put)`.
  /// @param what an output of the program, which adds to the queue, or several: `tg::fetch(put, put_more)`
  /// Raises TAGMA-E234 if the queue is not one of the program.
  template <class Session, detail::named_queue Queue, class What>
    requires requires { typename Session::tables; }
  queue_runner(Session& session, const Queue&, const What& what, const queue_runner_options& options = {})
      : running_(std::make_unique<detail::running>(queue_in<Queue>(session), functions_of(session, what), options)) {
    static_assert(diagnose::is_queue_of<Queue, Session>,
                  "TAGMA-E234 queue_runner: the queue is not one of the program of the session");
  }

  /// Starts the threads. How many; 0 while those of an earlier call run.
  /// Throws ResourceExhausted if the system starts no more threads; none runs then.
  int start() { return running_->start(nullptr); }
  /// The same; the coordinator stops them, is told what goes wrong, and waits for them.
  int start(coordinator& with) { return running_->start(&with); }
  /// Waits until the threads have ended. Throws the first error, unless a coordinator was told.
  void join() { running_->join(); }
  /// True while one of its threads runs.
  [[nodiscard]] bool is_running() const { return running_->is_running(); }

 private:
  template <class F>
  [[nodiscard]] static function with_limits(F fill) {
    if constexpr (std::is_invocable_v<F&, const run_limits&>)
      return [fill = std::move(fill)](const run_limits& limits) mutable { static_cast<void>(fill(limits)); };
    else
      return [fill = std::move(fill)](const run_limits&) mutable { static_cast<void>(fill()); };
  }
  template <class Queue, class Session>
  [[nodiscard]] TAGMA_COLD static counted<runtime::queue> queue_in(Session& session) {
    if constexpr (diagnose::is_queue_of<Queue, Session>) {
      const int i = session.resource_position("queue", Queue::name);
      if (i < 0)  // known in time where the compiler knows the graph
        fail(status_code::invalid_argument,
             {"TAGMA-E234 queue_runner: the queue is not one of the program of the session: ", Queue::name});
      return counted<runtime::queue>(static_cast<runtime::queue*>(&session.core().resource_at(i)));
    } else {
      return {};
    }
  }
  template <class Session, class What>
  [[nodiscard]] static std::vector<function> functions_of(Session& session, const What& what) {
    return {function([&session, what](const run_limits& limits) { static_cast<void>(session.run(what, limits)); })};
  }
  template <class Session, class... E>
  [[nodiscard]] static std::vector<function> functions_of(Session& session, const fetch_list<E...>&) {
    return {
        function([&session](const run_limits& limits) { static_cast<void>(session.run(fetch_list<E>{}, limits)); })...};
  }

  std::unique_ptr<detail::running> running_;
};

namespace detail {
template <class Runner>
concept startable = requires(Runner& r, coordinator& with) {
  { r.start(with) } -> std::same_as<int>;
};
template <class Runners>
concept range_of_startable = requires(Runners& all) {
  requires startable<std::remove_reference_t<decltype(*all.begin())>>;
  all.end();
};

template <class Runners>
[[nodiscard]] int start_each(coordinator& with, Runners& runners) {
  if constexpr (startable<Runners>) {
    return runners.start(with);
  } else {
    int threads = 0;
    for (auto& one : runners) threads += one.start(with);
    return threads;
  }
}
}  // namespace detail

/// Starts all threads that fill queues, in this order: `tg::start_queue_runners(coord, names, lines, more)`. How many
/// threads it started; those that run already are not started again.
/// @param runners queue runners, producers of input, batchers, or ranges of these
/// Throws ResourceExhausted if the system starts no more threads; those that were started are asked to stop then.
template <class... Runners>
  requires((detail::startable<Runners> || detail::range_of_startable<Runners>)&&...)
int start_queue_runners(coordinator& with, Runners&... runners) {
  int threads = 0;
  try {
    ((threads += detail::start_each(with, runners)), ...);
  } catch (...) {
    with.request_stop(std::current_exception());
    throw;
  }
  return threads;
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/queue_runner.ipp"
#endif
