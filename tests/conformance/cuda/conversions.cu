// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_conversions(kernel_values& to) {
  add_family<tagma::device::on_cuda>(conversion{}, to);
  add_family<tagma::device::on_cuda>(elementary{}, to);
}

}  // namespace tagma::conformance
