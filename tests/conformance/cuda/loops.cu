// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_loops(kernel_values& to) {
  add_family<tagma::device::cuda::kernel_set>(arithmetic{}, to);
  add_family<tagma::device::cuda::kernel_set>(comparison{}, to);
}

}  // namespace tagma::conformance
