// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_conversions(kernel_values& to) {
  add_family<tagma::device::cuda::kernel_set>(conversion{}, to);
  add_family<tagma::device::cuda::kernel_set>(elementary{}, to);
}

}  // namespace tagma::conformance
