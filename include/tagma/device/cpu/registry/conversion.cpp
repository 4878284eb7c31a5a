// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::conversion>;

}  // namespace tagma::device::cpu
