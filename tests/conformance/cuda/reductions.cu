// SPDX-License-Identifier: BSL-1.0
#include "conformance/cuda/kernels.hpp"
#include "tagma/device/cuda/kernel/cell.hpp"
#include "tagma/device/cuda/kernel/conv.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/moments.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"

namespace tagma::conformance {

void add_reductions(kernel_values& to) {
  add_family<tagma::device::on_cuda>(reduction{}, to);
  add_family<tagma::device::on_cuda>(contraction{}, to);
  add_family<tagma::device::on_cuda>(pooling{}, to);
  add_family<tagma::device::on_cuda>(rows{}, to);
  add_family<tagma::device::on_cuda>(cells{}, to);
}

}  // namespace tagma::conformance
