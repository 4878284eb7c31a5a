// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The threads that share the tasks of one loop.

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/denormals.hpp"

namespace tagma::device::cpu {

namespace detail {
// Whether this thread is inside a task of some pool.
inline constinit thread_local bool inside_task = false;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `done` says so: a short while awake, then asleep on `word`.
template <class Word, class Done>
void wait_until(const std::atomic<Word>& word, const Done& done) {
  for (int i = 0; i < 1000; ++i) {
    if (done(word.load(std::memory_order_acquire))) return;
    relax();
  }
  for (Word seen; !done(seen = word.load(std::memory_order_acquire));) word.wait(seen, std::memory_order_acquire);
}
}  // namespace detail

/// Worker threads for data-parallel loops. The thread that calls `parallel_for` takes part; workers take the next task
/// from a shared counter, so tasks may be of different lengths. Idle workers sleep. No call allocates memory.
///
/// Any number of threads may call `parallel_for` at once: one of them gets the workers, the others run their tasks
/// themselves. So does a task of a shared loop that calls it, and a process forked from the one that made the pool.
class thread_pool {
 public:
  /// @param workers threads beside the calling one, 0 or more; fewer are started where the system refuses more
  explicit thread_pool(int workers) : owner_(getpid()) {
    if (workers <= 0) return;
    threads_ = heap_array<pthread_t>(static_cast<std::size_t>(workers));
    for (; workers_ < workers; ++workers_) {
      if (pthread_create(&threads_[static_cast<std::size_t>(workers_)], nullptr, &enter, this) != 0) break;
    }
  }

  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Ends and joins the workers. No call of `parallel_for` may be in progress.
  ~thread_pool() {
    if (getpid() != owner_) return;
    stop_.store(true, std::memory_order_relaxed);
    round_.fetch_add(1);
    round_.notify_all();
    for (int i = 0; i < workers_; ++i) pthread_join(threads_[static_cast<std::size_t>(i)], nullptr);
  }

  /// The number of worker threads; the calling thread comes on top.
  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// Calls `task(context, i)` for every i in [0, tasks), each once, in any order, and returns when all have ended.
  /// Every task is run even if another one throws; the first exception is thrown again here.
  void parallel_for(std::int64_t tasks, void (*task)(void* context, std::int64_t index), void* context) {
    if (tasks <= 0) return;
    if (tasks == 1) return task(context, 0);  // nothing to share, so a loop inside this task may have the workers
    job work{task, context, tasks};
    if (workers_ == 0 || detail::inside_task || getpid() != owner_ || busy_.exchange(true, std::memory_order_acquire)) {
      work.run();
    } else {
      share(work);
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
  struct job {
    void (*task)(void*, std::int64_t);
    void* context;
    std::int64_t tasks;
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error{};

    void run() noexcept {
      const bool outside = !detail::inside_task;
      detail::inside_task = true;
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
        try {
          task(context, i);
        } catch (...) {
          if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
        }
      }
      if (outside) detail::inside_task = false;
    }
  };

  // Bit 0 of gate_ says that the job may be entered; the rest counts, in steps of two, the workers inside it.
  static constexpr std::uint32_t open = 1;
  static constexpr std::uint32_t one_worker = 2;

  void share(job& work) {
    job_ = &work;
    gate_.store(open, std::memory_order_release);
    round_.fetch_add(1);
    if (work.tasks > workers_) {
      round_.notify_all();
    } else {
      for (std::int64_t i = 1; i < work.tasks; ++i) round_.notify_one();
    }
    work.run();
    gate_.fetch_and(~open, std::memory_order_acq_rel);
    detail::wait_until(gate_, [](std::uint32_t gate) { return gate == 0; });
    busy_.store(false, std::memory_order_release);
  }

  void help() {
    std::uint32_t gate = gate_.load(std::memory_order_acquire);
    do {
      if ((gate & open) == 0) return;
    } while (
        !gate_.compare_exchange_weak(gate, gate + one_worker, std::memory_order_acq_rel, std::memory_order_acquire));
    job_->run();
    if (gate_.fetch_sub(one_worker) == one_worker) gate_.notify_one();
  }

  static void* enter(void* self) {
    flush_denormals();
    auto& pool = *static_cast<thread_pool*>(self);
    std::uint32_t seen = 0;
    for (;;) {
      detail::wait_until(pool.round_, [&](std::uint32_t round) { return round != seen; });
      seen = pool.round_.load(std::memory_order_acquire);
      if (pool.stop_.load(std::memory_order_relaxed)) return nullptr;
      pool.help();
    }
  }

  const pid_t owner_;
  int workers_ = 0;
  heap_array<pthread_t> threads_;
  job* job_ = nullptr;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<bool> busy_{false};
  alignas(64) std::atomic<std::uint32_t> gate_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace tagma::device::cpu
