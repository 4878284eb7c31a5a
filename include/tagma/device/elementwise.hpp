// SPDX-License-Identifier: BSL-1.0

/// @file
/// Bodies of the element-wise operations that are one expression, for kernels of all devices. A macro without a pragma:
/// see base/config.hpp.

#ifndef TAGMA_ELEMENTWISE_BODIES

#include "tagma/base/scalar_math.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/view.hpp"

// clang-format off
/// Writes `ONE(operation, expression)` for each operation of one operand `x`, and `TWO(operation, expression)` for each
/// of two, `a` and `b`, of one type P: a pack of elements on the CPU, an element on a GPU. The outcome of a comparison
/// is not yet of the type of the result.
#define TAGMA_ELEMENTWISE_BODIES(ONE, TWO) \
  TWO(op::add, a + b) \
  TWO(op::subtract, a - b) \
  TWO(op::multiply, a * b) \
  TWO(op::maximum, max(a, b)) \
  TWO(op::minimum, min(a, b)) \
  TWO(op::power, pow(a, b)) \
  TWO(op::equal, a == b) \
  TWO(op::not_equal, a != b) \
  TWO(op::less, a < b) \
  TWO(op::less_equal, a <= b) \
  TWO(op::greater, a > b) \
  TWO(op::greater_equal, a >= b) \
  TWO(op::logical_and, a & b) \
  TWO(op::logical_or, a | b) \
  ONE(op::logical_not, !x) \
  ONE(op::broadcast_like, x) \
  ONE(op::negate, -x) \
  ONE(op::square, x * x) \
  ONE(op::floor, floor(x)) \
  ONE(op::ceil, ceil(x)) \
  ONE(op::round, round(x)) \
  ONE(op::exp, exp(x)) \
  ONE(op::log, log(x)) \
  ONE(op::log1p, log1p(x)) \
  ONE(op::expm1, expm1(x)) \
  ONE(op::sqrt, sqrt(x)) \
  ONE(op::rsqrt, 1 / sqrt(x)) \
  ONE(op::tanh, tanh(x)) \
  ONE(op::erf, erf(x)) \
  ONE(op::sin, sin(x)) \
  ONE(op::cos, cos(x)) \
  ONE(op::relu, max(x, P{})) \
  ONE(op::sigmoid, sigmoid(x)) \
  ONE(op::softplus, softplus(x)) \
  TWO(op::relu_gradient, select(b > P{}, a, P{}))
// clang-format on

#endif
