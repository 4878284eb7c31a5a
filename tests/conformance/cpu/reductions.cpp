// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/cell.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/matmul_integer.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"

namespace tagma::conformance {

void add_reductions(kernel_values& to) {
  add_family<tagma::device::on_cpu>(reduction{}, to);
  add_family<tagma::device::on_cpu>(contraction{}, to);
  add_family<tagma::device::on_cpu>(pooling{}, to);
  add_family<tagma::device::on_cpu>(rows{}, to);
  add_family<tagma::device::on_cpu>(cells{}, to);
}

}  // namespace tagma::conformance
