// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The executor of the CPU: one thread pool.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/denormals.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/pool.hpp"
#include "tagma/device/cpu/step_pools.hpp"
#include "tagma/device/cpu/topology.hpp"
#include "tagma/runtime/executor.hpp"

namespace tagma {
namespace device::cpu {

class executor final : public runtime::executor {
 public:
  executor(int threads, int step_threads);
  TAGMA_DECL void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context,
                               runtime::helpers help) override;
  bool offer(runtime::shared_work& work) override { return pool_.offer(work); }
  void call_helpers(int count) override { pool_.wake(count); }
  void withdraw(runtime::shared_work& work) override { pool_.withdraw(work); }
  unsigned enter() override { return flush_denormals(); }
  void leave(unsigned before) override { restore_denormals(before); }
  [[nodiscard]] int threads() const override { return at_most_pool(threads_); }
  [[nodiscard]] int step_threads() const override { return at_most_pool(step_threads_); }

 private:
  [[nodiscard]] int at_most_pool(int n) const { return n <= pool_.workers() ? n : pool_.workers() + 1; }

  thread_pool pool_;
  int threads_;
  int step_threads_;
};

}  // namespace device::cpu

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/executor.ipp"
#endif
