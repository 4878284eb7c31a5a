// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::conversion>;

}  // namespace tagma::device::cuda
