// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_loops(kernel_values& to) {
  add_family<tagma::device::on_cpu>(arithmetic{}, to);
  add_family<tagma::device::on_cpu>(comparison{}, to);
}

}  // namespace tagma::conformance
