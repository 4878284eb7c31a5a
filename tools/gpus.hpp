// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices besides CPUs, for the commands that run programs.

#include "tagma/fake_gpu_programs.hpp"
#include "tagma/tagma.hpp"
#ifdef TAGMA_TOOLS_GPUS
#include "tagma/gpu_programs.hpp"
#endif

namespace tagma::tools {

/// What a command line asks for: `--gpus` or `--fake-gpus`; nullptr if it asks for neither. Throws FailedPrecondition
/// for GPUs if the command was made without their kernels, or the machine has none.
[[nodiscard]] inline const runtime::device_kind* asked_devices(bool gpus, bool fake_ones) {
  if (!gpus) return fake_ones ? &fake_gpus() : nullptr;
#ifdef TAGMA_TOOLS_GPUS
  if (tagma::gpus().start({})->devices() == 0)
    fail(status_code::failed_precondition, "--gpus: this machine has no GPU that CUDA finds");
  return &tagma::gpus();
#else
  fail(status_code::failed_precondition,
       "--gpus: this command was made without kernels for GPUs; CMake's -DTAGMA_TOOLS_GPUS=ON has nvcc compile them");
#endif
}

}  // namespace tagma::tools
