// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The threads that share the tasks of a loop, or the steps of a run.

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <type_traits>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/denormals.hpp"
#include "tagma/device/cpu/sleeping_place.hpp"
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
  explicit thread_pool(int workers);

  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Ends and joins the workers. Nothing may be on offer.
  ~thread_pool();

  /// The number of worker threads; the calling thread comes on top.
  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// Workers help with `work` from now on. False where nobody can help: without workers, or in a process forked from
  /// the one that made the pool.
  /// @param last  true: after what was offered before; false: first, so that what was begun ends before the rest
  [[nodiscard]] bool offer(runtime::shared_work& work, bool last = false);

  /// Wakes up to `count` workers to look at what is on offer.
  void wake(int count);

  /// Takes back what was offered; returns when no worker helps with it any more.
  void withdraw(runtime::shared_work& work);

  /// Calls `task(context, i)` for every i in [0, tasks), each once, in any order, and returns when all have ended.
  /// Workers take the next task from a shared counter, so tasks may be of different lengths. Every task is run even if
  /// another one throws; the first exception is thrown again here. A task of a shared loop that calls this runs the
  /// inner loop itself.
  /// @param most_helpers how many workers may take part
  void parallel_for(std::int64_t tasks, void (*task)(void* context, std::int64_t index), void* context,
                    int most_helpers = 1 << 16, runtime::helpers help = runtime::helpers::woken);

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
  /// The thread that calls takes tasks from the first on, the others from the last on: kernels that follow each other
  /// find in the cache of a processor what the one before left there.
  struct loop final : runtime::shared_work {
    loop(void (*t)(void*, std::int64_t), void* c, std::int64_t n, int helpers)
        : shared_work(helpers), task(t), context(c), tasks(n) {}

    [[nodiscard]] bool open() const noexcept override { return taken.load(memory_order::relaxed) < tasks; }
    void help() noexcept override { run(from_last, -1); }
    /// Does tasks until all are taken.
    /// @param from how many were taken from this end
    void run(atomic<std::int64_t>& from, int direction) noexcept;

    void (*task)(void*, std::int64_t);
    void* context;
    std::int64_t tasks;
    atomic<std::int64_t> taken{0}, from_first{0}, from_last{0};
    atomic<bool> failed{false};
    std::exception_ptr error{};
  };

  struct worker {
    thread_pool* pool = nullptr;
    pthread_t thread{};
    sleeping_place place{};
  };

  /// Wakes `count` workers that sleep, or all; some of them not on the processor of the thread that calls.
  void wake_sleepers(int count);
  /// So many: each takes two calls of the system, and of more workers one that comes late is a small part.
  static constexpr int most_kept_off = 4;
  /// Calls workers that are awake, and wakes as many more as are missing. For work that does not depend on them: who is
  /// awake may see another offer first.
  void wake_missing(int count);
  /// Whether a small loop is to be offered: somebody is awake, or is to be.
  [[nodiscard]] bool somebody_for_small();

  /// So long a thread that has had something to do waits awake for more. Kernels on one thread between two that are
  /// shared take less, as a rule; to be woken takes a thread 20 microseconds.
  static constexpr std::int64_t patience_ns = 100'000;

  /// After so many small loops without help, each soon behind the one before, a worker is woken, which then waits awake
  /// for the next ones.
  static constexpr int most_missed = 4;

  /// Helps with one offer; false if there is nothing to do.
  bool help();

  static void* enter(void* self);

  const pid_t owner_;
  int workers_ = 0;
  heap_array<worker> threads_;
  atomic<bool> stop_{false};
  mutex mutex_;
  runtime::shared_work* first_ = nullptr;  // on offer
  runtime::shared_work* last_ = nullptr;
  alignas(64) runtime::wait_word round_;
  alignas(64) runtime::wait_word left_;
  alignas(64) atomic<int> awake_{0};     ///< workers that look for work
  atomic<int> missed_{0};                ///< small loops soon behind each other that found none
  atomic<std::int64_t> last_missed_{0};  ///< when the last of them ended
};

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/pool.ipp"
#endif
