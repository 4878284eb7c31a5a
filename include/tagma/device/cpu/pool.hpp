// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The threads that share the tasks of a loop, or the steps of a run.

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <type_traits>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/denormals.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::device::cpu {

namespace detail {
// Whether this thread is inside a task of some pool.
inline constinit thread_local bool inside_task = false;
}  // namespace detail

/// Worker threads that help with what other threads offer. A thread that offers work does it too, and only waits for
/// helpers that are in the middle of a task; idle workers sleep. No call allocates memory.
class thread_pool {
 public:
  /// @param workers threads beside those that call, 0 or more; fewer are started where the system refuses more
  explicit thread_pool(int workers) : owner_(getpid()) {
    if (workers <= 0) return;
    threads_ = heap_array<pthread_t>(workers);
    for (; workers_ < workers; ++workers_) {
      if (pthread_create(&threads_[workers_], nullptr, &enter, this) != 0) break;
    }
  }

  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Ends and joins the workers. Nothing may be on offer.
  ~thread_pool() {
    if (getpid() != owner_) return;
    stop_.store(true, memory_order::relaxed);
    round_.change(true);
    for (int i = 0; i < workers_; ++i) pthread_join(threads_[i], nullptr);
  }

  /// The number of worker threads; the calling thread comes on top.
  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// Workers help with `work` from now on. False where nobody can help: without workers, or in a process forked from
  /// the one that made the pool.
  /// @param last  true: after what was offered before; false: first, so that what was begun ends before the rest
  [[nodiscard]] bool offer(runtime::shared_work& work, bool last = false) {
    if (workers_ == 0 || getpid() != owner_) return false;
    const mutex_lock lock(mutex_);
    work.before = last ? last_ : nullptr;
    work.behind = last ? nullptr : first_;
    (work.before == nullptr ? first_ : work.before->behind) = &work;
    (work.behind == nullptr ? last_ : work.behind->before) = &work;
    return true;
  }

  /// Wakes up to `count` workers to look at what is on offer.
  void wake(int count) {
    if (count >= workers_) return round_.change(true);
    for (int i = 0; i < count; ++i) round_.change(false);
  }

  /// Takes back what was offered; returns when no worker helps with it any more.
  void withdraw(runtime::shared_work& work) {
    mutex_.lock();
    (work.before == nullptr ? first_ : work.before->behind) = work.behind;
    (work.behind == nullptr ? last_ : work.behind->before) = work.before;
    while (work.helping > 0) {
      const std::uint32_t seen = left_.load(memory_order::relaxed);
      mutex_.unlock();
      left_.wait(seen);
      mutex_.lock();
    }
    mutex_.unlock();
  }

  /// Calls `task(context, i)` for every i in [0, tasks), each once, in any order, and returns when all have ended.
  /// Workers take the next task from a shared counter, so tasks may be of different lengths. Every task is run even if
  /// another one throws; the first exception is thrown again here. A task of a shared loop that calls this runs the
  /// inner loop itself.
  /// @param helpers how many workers may take part
  void parallel_for(std::int64_t tasks, void (*task)(void* context, std::int64_t index), void* context,
                    int helpers = 1 << 16) {
    if (tasks <= 0) return;
    if (tasks == 1) return task(context, 0);  // nothing to share, so a loop inside this task may have the workers
    loop work(task, context, tasks, helpers);
    if (helpers <= 0 || detail::inside_task || !offer(work)) {
      work.help();
    } else {
      wake_missing(static_cast<int>(tasks - 1 < helpers ? tasks - 1 : helpers));
      work.help();
      withdraw(work);
    }
    if (work.error) std::rethrow_exception(work.error);
  }

  /// Calls `f(i)` for every i in [0, tasks). The callable is used in place by all threads.
  template <class F>
    requires(std::is_invocable_v<F&, std::int64_t>)
  void parallel_for(std::int64_t tasks, F&& f) {
    using callable = std::remove_reference_t<F>;
    parallel_for(
        tasks, [](void* context, std::int64_t index) { static_cast<void>((*static_cast<callable*>(context))(index)); },
        const_cast<void*>(static_cast<const volatile void*>(std::addressof(f))));
  }

 private:
  struct loop final : runtime::shared_work {
    loop(void (*t)(void*, std::int64_t), void* c, std::int64_t n, int helpers)
        : shared_work(helpers), task(t), context(c), tasks(n) {}

    [[nodiscard]] bool open() const noexcept override { return next.load(memory_order::relaxed) < tasks; }
    void help() noexcept override {
      const bool outside = !detail::inside_task;
      detail::inside_task = true;
      for (std::int64_t i; (i = next.fetch_add(1, memory_order::relaxed)) < tasks;) {
        try {
          task(context, i);
        } catch (...) {
          if (!failed.exchange(true, memory_order::relaxed)) error = std::current_exception();
        }
      }
      if (outside) detail::inside_task = false;
    }

    void (*task)(void*, std::int64_t);
    void* context;
    std::int64_t tasks;
    atomic<std::int64_t> next{0};
    atomic<bool> failed{false};
    std::exception_ptr error{};
  };

  /// Calls workers that are awake, and wakes as many more as are missing. For work that does not depend on them: who is
  /// awake may see another offer first.
  void wake_missing(int count) {
    round_.change_awake();
    if (const int awake = awake_.load(); awake < count) round_.wake(count - awake);
  }

  /// Helps with one offer; false if there is nothing to do.
  bool help() {
    runtime::shared_work* work = nullptr;
    {
      const mutex_lock lock(mutex_);
      work = first_;
      while (work != nullptr && !(work->helping < work->most_helpers && work->open())) work = work->behind;
      if (work == nullptr) return false;
      ++work->helping;
    }
    work->help();
    {
      // Once the count is 0 and the lock is open, the work may be gone.
      const mutex_lock lock(mutex_);
      --work->helping;
    }
    left_.change(true);
    return true;
  }

  static void* enter(void* self) {
    flush_denormals();
    auto& pool = *static_cast<thread_pool*>(self);
    for (;;) {
      const std::uint32_t seen = pool.round_.load(memory_order::acquire);
      if (pool.stop_.load(memory_order::relaxed)) return nullptr;
      if (pool.help()) continue;
      // Whoever counts this one among those awake has changed the word before.
      pool.awake_.fetch_add(1);
      const bool changed = pool.round_.changes_soon(seen);
      pool.awake_.fetch_sub(1);
      if (!changed) pool.round_.sleep_until(seen, runtime::wait_word::never);
    }
  }

  const pid_t owner_;
  int workers_ = 0;
  heap_array<pthread_t> threads_;
  atomic<bool> stop_{false};
  mutex mutex_;
  runtime::shared_work* first_ = nullptr;  // on offer
  runtime::shared_work* last_ = nullptr;
  alignas(64) runtime::wait_word round_;
  alignas(64) runtime::wait_word left_;
  alignas(64) atomic<int> awake_{0};  ///< workers that look for work
};

}  // namespace tagma::device::cpu
