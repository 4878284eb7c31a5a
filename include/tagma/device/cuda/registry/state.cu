// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/kernel/optimizers.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/registry.hpp"

namespace tagma::device::cuda {

template struct registered<operations::state>;
template struct registered<operations::training>;

}  // namespace tagma::device::cuda
