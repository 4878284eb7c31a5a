// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::movement>;

}  // namespace tagma::device::cuda
