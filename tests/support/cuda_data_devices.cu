// SPDX-License-Identifier: BSL-1.0
// GPUs for programs that are data, where there is one; elsewhere fake streams run the kernels of the GPU on the host.
#include "support/cuda.hpp"
#include "support/other_devices.hpp"
#include "tagma/device/cuda/all_kernels.hpp"
#include "tagma/device/fake/accelerator.hpp"

const tagma::runtime::device_kind& tagma::test::devices_of_this_program() {
  static const runtime::device_kind kind = [] {
    runtime::device_kind either = device::cuda::registered_gpus();
    either.start = [](const gpu_options& options) -> owned<runtime::accelerator> {
      using emulated_gpu = device::cuda::with_cuda_kernels<device::fake::accelerator>;
      gpu_options growing = options;
      growing.allow_growth = true;
      if (on_gpu()) return make_owned<device::cuda::accelerator>(device::cuda::shared_gpus(), growing);
      return make_owned<emulated_gpu>(device::fake::machine::current(), growing);
    };
    return either;
  }();
  return kind;
}
