// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_loops(cpu_kernels& to) {
  add_family(arithmetic{}, to);
  add_family(comparison{}, to);
}

}  // namespace tagma::conformance
