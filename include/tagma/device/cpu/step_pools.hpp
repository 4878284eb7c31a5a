// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads that do the steps of runs and nothing else: those of one session, or by name those of several.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/device/cpu/pool.hpp"
#include "tagma/device/cpu/topology.hpp"

namespace tagma {
namespace device::cpu {

/// As many threads as it says. Who offers work to them does not take part. The work offered first is done first.
class step_pool final : public runtime::step_pool {
 public:
  explicit step_pool(int threads) : pool_(threads), threads_(threads) {}

  bool offer(runtime::shared_work& work) override { return pool_.offer(work, true); }
  void call_helpers(int count) override { pool_.wake(count); }
  void withdraw(runtime::shared_work& work) override { pool_.withdraw(work); }
  [[nodiscard]] int step_threads() const override { return pool_.workers(); }
  /// The number that was asked for; the system may have refused some.
  [[nodiscard]] int wanted() const { return threads_; }

 private:
  thread_pool pool_;
  int threads_;
};

/// The pools of this process that have a name and are in use.
class named_step_pools {
  struct entry;

 public:
  /// A user of a pool with a name; the threads end with the last of them.
  class user final : public runtime::step_pool {
   public:
    /// Throws InvalidArgument if the pool is in use with another number of threads.
    user(named_step_pools& pools, int threads, std::string_view name)
        : pools_(pools), entry_(pools.find(threads, name)) {}
    ~user() override { pools_.leave(entry_); }

    bool offer(runtime::shared_work& work) override { return entry_.threads.offer(work); }
    void call_helpers(int count) override { entry_.threads.call_helpers(count); }
    void withdraw(runtime::shared_work& work) override { entry_.threads.withdraw(work); }
    [[nodiscard]] int step_threads() const override { return entry_.threads.step_threads(); }

   private:
    friend class named_step_pools;
    named_step_pools& pools_;
    entry& entry_;
  };

  /// Those of the process.
  [[nodiscard]] static named_step_pools& all();

 private:
  struct entry {
    entry(std::string_view n, int count) : name(n), threads(count) {}
    std::string name;
    step_pool threads;
    int users = 1;
    owned<entry> next;
  };

  [[nodiscard]] entry& find(int threads, std::string_view name);
  void leave(entry& gone);

  mutex mutex_;
  owned<entry> first_;
};

}  // namespace device::cpu

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/step_pools.ipp"
#endif
