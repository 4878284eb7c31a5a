// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a runtime asks of the threads of a device.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tagma/base/owned.hpp"

namespace tagma::runtime {

/// Work that idle threads may take part in: the tasks of one kernel, or the steps of one run.
class shared_work {
 public:
  /// @param helpers how many threads may help at once, beside the one whose work it is
  explicit shared_work(int helpers) : most_helpers(helpers) {}
  shared_work(const shared_work&) = delete;
  shared_work& operator=(const shared_work&) = delete;

  /// True if a thread that comes now finds something to do. Any thread may ask at any time.
  [[nodiscard]] virtual bool open() const noexcept = 0;
  /// Works until there is nothing more to do for this thread.
  virtual void help() noexcept = 0;

  int most_helpers;
  /// @name What the threads keep that the work was offered to.
  /// @{
  int helping = 0;
  shared_work* before = nullptr;
  shared_work* behind = nullptr;
  /// @}

 protected:
  ~shared_work() = default;
};

/// Threads that do the steps of runs.
class step_pool {
 public:
  step_pool() = default;
  step_pool(const step_pool&) = delete;
  step_pool& operator=(const step_pool&) = delete;
  virtual ~step_pool() = default;
  /// Idle threads help with `work` from now on. False if none can: then `withdraw` must not be called.
  virtual bool offer(shared_work& work) = 0;
  /// Tells that as many more threads find something to do in what was offered.
  virtual void call_helpers(int count) = 0;
  /// Takes back what was offered; returns when no thread helps with it any more.
  virtual void withdraw(shared_work& work) = 0;
  /// Threads that share the steps of one run.
  [[nodiscard]] virtual int step_threads() const = 0;
};

/// Who helps with a loop. Waking a thread takes longer than a small kernel does.
enum class helpers : unsigned char {
  woken,  ///< any thread
  awake,  ///< threads that wait awake; one is woken where many such loops found none
};

/// The threads of a device. The thread that calls always takes part and counts as one, so that no work ever waits for
/// another thread to become free.
class executor : public step_pool {
 public:
  /// Calls `task(context, i)` for each i below `count` and returns when all are done; rethrows the first exception.
  virtual void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context, helpers help) = 0;
  /// Prepares the calling thread for kernels; `leave` takes the result and undoes it.
  virtual unsigned enter() { return 0; }
  virtual void leave(unsigned) {}
  /// Threads that share one kernel, the caller included.
  [[nodiscard]] virtual int threads() const = 0;

  /// The same for a callable.
  template <class Task>
  void parallel_for(std::int64_t count, Task&& task, helpers help = helpers::woken) {
    using callable = std::remove_reference_t<Task>;
    parallel_for(
        count, [](void* context, std::int64_t i) { (*static_cast<callable*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&task)), help);
  }
};

/// Runs kernels on the thread that calls.
class calling_thread final : public executor {
 public:
  void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context, helpers) override {
    for (std::int64_t i = 0; i < count; ++i) task(context, i);
  }
  bool offer(shared_work&) override { return false; }
  void call_helpers(int) override {}
  void withdraw(shared_work&) override {}
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] int step_threads() const override { return 1; }
};

/// The calling thread runs kernels while this lives.
struct kernel_scope {
  explicit kernel_scope(executor& e) : threads(e), before(e.enter()) {}
  ~kernel_scope() { threads.leave(before); }
  kernel_scope(const kernel_scope&) = delete;
  kernel_scope& operator=(const kernel_scope&) = delete;
  executor& threads;
  unsigned before;
};

/// The processors that this process may keep busy; defined by device/cpu.
[[nodiscard]] int available_threads();

/// The executor of the CPU; defined by device/cpu. Both numbers of threads come from one pool.
/// @param threads that share one kernel; 0: as many as the affinity mask and the quota of the process allow
/// @param step_threads that share the steps of one run; 0: the same number
[[nodiscard]] owned<executor> make_cpu_executor(int threads, int step_threads = 0);

/// Threads for the steps of some runs alone; defined by device/cpu. Those who ask for the same name share them, and the
/// threads end with the last of them.
/// @param threads 0: as many as the affinity mask and the quota of the process allow
/// @param name    none: threads that nobody else has
/// Throws InvalidArgument if a pool of this name has another number of threads.
[[nodiscard]] owned<step_pool> make_cpu_step_pool(int threads, std::string_view name);

}  // namespace tagma::runtime
