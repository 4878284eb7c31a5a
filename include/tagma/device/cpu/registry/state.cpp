// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::state>;
template struct registered<operations::chance>;
template struct registered<operations::training>;

}  // namespace tagma::device::cpu
