// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/filter.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/shuffle.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"

namespace tagma::conformance {

void add_others(kernel_values& to) {
  add_family<tagma::device::on_cpu>(order{}, to);
  add_family<tagma::device::on_cpu>(filters{}, to);
  add_family<tagma::device::on_cpu>(movement{}, to);
  add_family<tagma::device::on_cpu>(state{}, to);
  add_family<tagma::device::on_cpu>(chance{}, to);
  add_family<tagma::device::on_cpu>(training{}, to);
}

}  // namespace tagma::conformance
