// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_loops(kernel_values& to) {
  add_family<tagma::device::on_cuda>(arithmetic{}, to);
  add_family<tagma::device::on_cuda>(comparison{}, to);
}

}  // namespace tagma::conformance
