// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::reduction>;

}  // namespace tagma::device::cpu
