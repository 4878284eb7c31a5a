// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/matmul_integer.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/registry.hpp"

namespace tagma::device::cpu {

template struct registered<operations::contraction>;
template struct registered<operations::pooling>;

}  // namespace tagma::device::cpu
