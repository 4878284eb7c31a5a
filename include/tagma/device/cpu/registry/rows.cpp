// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/cell.hpp"
#include "tagma/device/cpu/kernel/filter.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/shuffle.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::rows>;
template struct registered<operations::cells>;
template struct registered<operations::order>;
template struct registered<operations::filters>;

}  // namespace tagma::device::cpu
