// SPDX-License-Identifier: BSL-1.0
// GPUs for programs that are data, where there is one; elsewhere fake streams run the kernels of the GPU on the host.
#include "support/cuda.hpp"
#include "support/other_devices.hpp"
#include "tagma/device/cuda/all_kernels.hpp"
#include "tagma/device/fake/accelerator.hpp"

const tagma::runtime::device_kind& tagma::test::devices_of_this_program() {
  using emulated_gpu = device::cuda::with_cuda_kernels<device::fake::accelerator>;
  static constexpr runtime::device_kind kind{
      {"GPU", &device::cuda::has_registered_kernel, &device::begins_loop},
      [](const gpu_options& options) -> owned<runtime::accelerator> {
        gpu_options growing = options;
        growing.allow_growth = true;
        if (on_gpu()) return make_owned<device::cuda::accelerator>(device::cuda::shared_gpus(), growing);
        return make_owned<emulated_gpu>(device::fake::machine::current(), growing);
      },
      &device::cuda::find_kernels_of_gpus};
  return kind;
}
