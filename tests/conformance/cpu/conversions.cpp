// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_conversions(cpu_kernels& to) {
  add_family(conversion{}, to);
  add_family(elementary{}, to);
}

}  // namespace tagma::conformance
