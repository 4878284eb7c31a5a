// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations on the CPU, over packs of elements.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/elementwise.hpp"

namespace tagma::device {

TAGMA_ELEMENTWISE_KERNELS(on_cpu, TAGMA_INLINE)
TAGMA_SCALAR_KERNEL_OF_TWO(on_cpu, TAGMA_INLINE, op::divide, a / b)
TAGMA_SCALAR_KERNEL_OF_ONE(on_cpu, TAGMA_INLINE, op::cast, cpu::convert<typename Out::value_type>(x))
TAGMA_SCALAR_KERNEL_OF_ONE(on_cpu, TAGMA_INLINE, op::abs, abs(x))
TAGMA_SCALAR_KERNEL_OF_ONE(on_cpu, TAGMA_INLINE, op::sign, sign(x))

}  // namespace tagma::device
