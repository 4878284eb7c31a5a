// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_loops(kernel_values& to) {
  add_family<cpu_source>(arithmetic{}, to);
  add_family<cpu_source>(comparison{}, to);
}

}  // namespace tagma::conformance
