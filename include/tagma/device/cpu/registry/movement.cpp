// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::movement>;
template struct registered<operations::internal>;

}  // namespace tagma::device::cpu
