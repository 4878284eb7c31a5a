// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of executor.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace tagma::device::cpu {

TAGMA_COLD TAGMA_DECL executor::executor(int threads, int step_threads)
    : pool_((threads > step_threads ? threads : step_threads) - 1), threads_(threads), step_threads_(step_threads) {
  check_instruction_set();
}

TAGMA_DECL void executor::parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context,
                                       runtime::helpers help) {
  pool_.parallel_for(count, task, context, threads_ - 1, help);
}

}  // namespace tagma::device::cpu

namespace tagma {

TAGMA_COLD TAGMA_DECL int runtime::available_threads() { return device::cpu::available_cpus(); }

TAGMA_COLD TAGMA_DECL owned<runtime::executor> runtime::make_cpu_executor(int threads, int step_threads) {
  if (threads <= 0) threads = device::cpu::available_cpus();
  return owned<runtime::executor>(new device::cpu::executor(threads, step_threads > 0 ? step_threads : threads));
}

}  // namespace tagma
