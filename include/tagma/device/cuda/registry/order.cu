// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/filter.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/scan.hpp"
#include "tagma/device/cuda/kernel/shuffle.hpp"
#include "tagma/device/cuda/kernel/sort.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::order>;
template struct registered<operations::filters>;
template struct registered<operations::chance>;

}  // namespace tagma::device::cuda
