// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The executor of the CPU: one thread pool.

#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/denormals.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/pool.hpp"
#include "tagma/device/cpu/topology.hpp"
#include "tagma/runtime/executor.hpp"

namespace tagma {
namespace device::cpu {

class executor final : public runtime::executor {
 public:
  explicit executor(int threads) : pool_(threads - 1) { check_instruction_set(); }
  void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context) override {
    pool_.parallel_for(count, task, context);
  }
  unsigned enter() override { return flush_denormals(); }
  void leave(unsigned before) override { restore_denormals(before); }
  [[nodiscard]] int threads() const override { return pool_.workers() + 1; }

 private:
  thread_pool pool_;
};

}  // namespace device::cpu

TAGMA_COLD inline owned<runtime::executor> runtime::make_cpu_executor(int threads) {
  return make_owned<device::cpu::executor>(threads > 0 ? threads : device::cpu::available_cpus());
}

}  // namespace tagma
