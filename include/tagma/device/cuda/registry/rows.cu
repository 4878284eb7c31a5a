// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/cell.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::rows>;
template struct registered<operations::cells>;

}  // namespace tagma::device::cuda
