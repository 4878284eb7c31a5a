// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations on the GPU, over single numbers.

#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/view.hpp"

namespace tagma::device::cuda {

/// A body of one number `x`, or of two, `a` and `b`, of one type T.
#define TAGMA_BODY_OF_ONE(operation, ...)    \
  template <>                                \
  struct scalar_kernel<ir::key<operation>> { \
    template <class Out, class T>            \
    TAGMA_DEVICE static Out apply(T x) {     \
      return static_cast<Out>(__VA_ARGS__);  \
    }                                        \
  };
#define TAGMA_BODY_OF_TWO(operation, ...)     \
  template <>                                 \
  struct scalar_kernel<ir::key<operation>> {  \
    template <class Out, class T>             \
    TAGMA_DEVICE static Out apply(T a, T b) { \
      return static_cast<Out>(__VA_ARGS__);   \
    }                                         \
  };

TAGMA_BODY_OF_TWO(op::add, a + b)
TAGMA_BODY_OF_TWO(op::subtract, a - b)
TAGMA_BODY_OF_TWO(op::multiply, a* b)
TAGMA_BODY_OF_TWO(op::divide, divide(a, b))
TAGMA_BODY_OF_TWO(op::maximum, larger(a, b))
TAGMA_BODY_OF_TWO(op::minimum, smaller(a, b))
TAGMA_BODY_OF_TWO(op::power, pow(a, b))

TAGMA_BODY_OF_TWO(op::equal, a == b)
TAGMA_BODY_OF_TWO(op::not_equal, a != b)
TAGMA_BODY_OF_TWO(op::less, a < b)
TAGMA_BODY_OF_TWO(op::less_equal, a <= b)
TAGMA_BODY_OF_TWO(op::greater, a > b)
TAGMA_BODY_OF_TWO(op::greater_equal, a >= b)
TAGMA_BODY_OF_TWO(op::logical_and, a&& b)
TAGMA_BODY_OF_TWO(op::logical_or, a || b)
TAGMA_BODY_OF_ONE(op::logical_not, !x)

TAGMA_BODY_OF_ONE(op::cast, convert<Out>(x))
TAGMA_BODY_OF_ONE(op::broadcast_like, x)
TAGMA_BODY_OF_ONE(op::negate, -x)
TAGMA_BODY_OF_ONE(op::square, x* x)
TAGMA_BODY_OF_ONE(op::floor, floor(x))
TAGMA_BODY_OF_ONE(op::ceil, ceil(x))
TAGMA_BODY_OF_ONE(op::round, round(x))
TAGMA_BODY_OF_ONE(op::exp, exp(x))
TAGMA_BODY_OF_ONE(op::log, log(x))
TAGMA_BODY_OF_ONE(op::log1p, log1p(x))
TAGMA_BODY_OF_ONE(op::expm1, expm1(x))
TAGMA_BODY_OF_ONE(op::sqrt, sqrt(x))
TAGMA_BODY_OF_ONE(op::rsqrt, T(1) / sqrt(x))
TAGMA_BODY_OF_ONE(op::tanh, tanh(x))
TAGMA_BODY_OF_ONE(op::erf, erf(x))
TAGMA_BODY_OF_ONE(op::sin, sin(x))
TAGMA_BODY_OF_ONE(op::cos, cos(x))
TAGMA_BODY_OF_ONE(op::relu, larger(x, T(0)))
TAGMA_BODY_OF_ONE(op::sigmoid, sigmoid(x))
TAGMA_BODY_OF_ONE(op::softplus, softplus(x))
TAGMA_BODY_OF_TWO(op::relu_gradient, b > T(0) ? a : T(0))
#undef TAGMA_BODY_OF_ONE
#undef TAGMA_BODY_OF_TWO

template <>
struct scalar_kernel<ir::key<op::abs>> {
  template <class Out, class T>
  TAGMA_DEVICE static Out apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < T(0) ? static_cast<Out>(-x) : x;
    else
      return x;
  }
};
template <>
struct scalar_kernel<ir::key<op::sign>> {
  template <class Out, class T>
  TAGMA_DEVICE static Out apply(T x) {
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
      if (x < T(0)) return Out(-1);
    return x > T(0) ? Out(1) : x;
  }
};
template <>
struct scalar_kernel<ir::key<op::select>> {
  template <class Out, class C, class T>
  TAGMA_DEVICE static Out apply(C condition, T a, T b) {
    return condition ? a : b;
  }
};

}  // namespace tagma::device::cuda
