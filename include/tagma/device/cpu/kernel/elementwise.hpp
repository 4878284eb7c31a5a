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

namespace cpu {

#define TAGMA_WIDE_LOOP(operation, operations) \
  template <>                                  \
  inline constexpr std::size_t longest_wide_loop<ir::key<operation>> = operations;
#define TAGMA_LONG_FORMULA(operation) TAGMA_WIDE_LOOP(operation, ~std::size_t{0})
TAGMA_LONG_FORMULA(op::exp)
TAGMA_LONG_FORMULA(op::log)
TAGMA_LONG_FORMULA(op::log1p)
TAGMA_LONG_FORMULA(op::expm1)
TAGMA_LONG_FORMULA(op::tanh)
TAGMA_LONG_FORMULA(op::sigmoid)
TAGMA_LONG_FORMULA(op::softplus)
TAGMA_LONG_FORMULA(op::erf)
TAGMA_LONG_FORMULA(op::sin)
TAGMA_LONG_FORMULA(op::cos)
TAGMA_LONG_FORMULA(op::power)
TAGMA_WIDE_LOOP(op::sqrt, 2)
TAGMA_WIDE_LOOP(op::rsqrt, 2)
#undef TAGMA_LONG_FORMULA
#undef TAGMA_WIDE_LOOP
template <>
inline constexpr bool computes_doubles<ir::key<op::power>> = true;

}  // namespace cpu
}  // namespace tagma::device
