// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/moments.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::reduction>;

}  // namespace tagma::device::cuda
