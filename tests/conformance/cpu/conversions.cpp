// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"

namespace tagma::conformance {

void add_conversions(kernel_values& to) {
  add_family<tagma::device::on_cpu>(conversion{}, to);
  add_family<tagma::device::on_cpu>(elementary{}, to);
}

}  // namespace tagma::conformance
