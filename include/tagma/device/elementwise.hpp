// SPDX-License-Identifier: BSL-1.0

/// @file
/// Bodies of the element-wise operations that are one expression, for all devices. Macros without a pragma: see
/// base/config.hpp.

#ifndef TAGMA_ELEMENTWISE_KERNELS

#include "tagma/device/functions.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/ir/loops.hpp"

// clang-format off
/// Registers the body of an operation of one operand `x`, or of two, `a` and `b`, of one type P: a pack of elements on
/// the CPU, an element on a GPU. Packs are compared to masks, and the sum of two small integers is an int.
/// @param FUNCTION TAGMA_INLINE or TAGMA_DEVICE: nvcc takes no function of the GPU that gives vectors
#define TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, operation, ...) \
  template <> \
  struct scalar_kernel<Device, ir::key<operation>> { \
    template <class Out, class P> \
    FUNCTION static Out apply(const P& x) { \
      return static_cast<Out>(__VA_ARGS__); \
    } \
  };
#define TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, operation, ...) \
  template <> \
  struct scalar_kernel<Device, ir::key<operation>> { \
    template <class Out, class P> \
    FUNCTION static Out apply(const P& a, const P& b) { \
      return static_cast<Out>(__VA_ARGS__); \
    } \
  };

/// Registers those that are the same on all devices, in namespace tagma::device.
#define TAGMA_ELEMENTWISE_KERNELS(Device, FUNCTION) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::add, a + b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::subtract, a - b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::multiply, a * b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::maximum, max(a, b)) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::minimum, min(a, b)) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::power, pow(a, b)) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::equal, a == b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::not_equal, a != b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::less, a < b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::less_equal, a <= b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::greater, a > b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::greater_equal, a >= b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::logical_and, a & b) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::logical_or, a | b) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::logical_not, !x) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::broadcast_like, x) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, ir::loop_copy, x) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::negate, -x) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::square, x * x) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::floor, floor(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::ceil, ceil(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::round, round(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::exp, exp(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::log, log(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::log1p, log1p(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::expm1, expm1(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::sqrt, sqrt(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::rsqrt, 1 / sqrt(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::tanh, tanh(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::erf, erf(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::sin, sin(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::cos, cos(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::relu, max(x, P{})) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::sigmoid, sigmoid(x)) \
  TAGMA_SCALAR_KERNEL_OF_ONE(Device, FUNCTION, op::softplus, softplus(x)) \
  TAGMA_SCALAR_KERNEL_OF_TWO(Device, FUNCTION, op::relu_gradient, select(b > P{}, a, P{})) \
  template <> \
  struct scalar_kernel<Device, ir::key<op::select>> { \
    template <class Out, class C, class P> \
    FUNCTION static Out apply(const C& condition, const P& a, const P& b) { \
      return select(condition, a, b); \
    } \
  };
// clang-format on

#endif
