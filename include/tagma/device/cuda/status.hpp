// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Errors of CUDA as errors of this library.

#include <cuda_runtime_api.h>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::device::cuda {

/// The canonical code for what the CUDA runtime reports.
[[nodiscard]] constexpr status_code code_of(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return status_code::ok;
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
      return status_code::resource_exhausted;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidConfiguration:
      return status_code::invalid_argument;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDeviceUninitialized:
    case cudaErrorInitializationError:
    case cudaErrorCudartUnloading:
    case cudaErrorMpsConnectionFailed:
      return status_code::unavailable;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorStreamCaptureUnsupported:
      return status_code::unimplemented;
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorCapturedEvent:
      return status_code::failed_precondition;
    case cudaErrorECCUncorrectable:
      return status_code::data_loss;
    case cudaErrorLaunchTimeout:
      return status_code::deadline_exceeded;
    default:
      return status_code::internal;
  }
}

/// Throws what `status` stands for: "ResourceExhausted: cudaMalloc: out of memory (cudaErrorMemoryAllocation)".
/// @param call the function that returned it
[[noreturn]] TAGMA_COLD inline void fail_with(cudaError_t status, std::string_view call) {
  static_cast<void>(cudaGetLastError());  // or a later call reports it once more
  fail(code_of(status), {call, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"});
}

inline void check(cudaError_t status, std::string_view call) {
  if (status != cudaSuccess) [[unlikely]]
    fail_with(status, call);
}

/// For what gives something back, which reports nothing: at the end of a process CUDA may be gone already
/// (cudaErrorCudartUnloading), and after an error of a kernel every call repeats it. The thread's last error is
/// cleared, since launches are checked by it.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace tagma::device::cuda
