// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/filter.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/optimizers.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/scan.hpp"
#include "tagma/device/cuda/kernel/shuffle.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/sort.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"

namespace tagma::conformance {

void add_others(kernel_values& to) {
  add_family<tagma::device::on_cuda>(order{}, to);
  add_family<tagma::device::on_cuda>(filters{}, to);
  add_family<tagma::device::on_cuda>(movement{}, to);
  add_family<tagma::device::on_cuda>(state{}, to);
  add_family<tagma::device::on_cuda>(chance{}, to);
  add_family<tagma::device::on_cuda>(training{}, to);
}

}  // namespace tagma::conformance
