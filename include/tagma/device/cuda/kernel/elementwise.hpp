// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations on the GPU, over single numbers.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/elementwise.hpp"

namespace tagma::device::cuda {

#define TAGMA_BODY_OF_ONE(operation, ...)    \
  template <>                                \
  struct scalar_kernel<ir::key<operation>> { \
    template <class Out, class P>            \
    TAGMA_DEVICE static Out apply(P x) {     \
      return static_cast<Out>(__VA_ARGS__);  \
    }                                        \
  };
#define TAGMA_BODY_OF_TWO(operation, ...)     \
  template <>                                 \
  struct scalar_kernel<ir::key<operation>> {  \
    template <class Out, class P>             \
    TAGMA_DEVICE static Out apply(P a, P b) { \
      return static_cast<Out>(__VA_ARGS__);   \
    }                                         \
  };
TAGMA_ELEMENTWISE_BODIES(TAGMA_BODY_OF_ONE, TAGMA_BODY_OF_TWO)
TAGMA_BODY_OF_TWO(op::divide, divide(a, b))
TAGMA_BODY_OF_ONE(op::cast, convert<Out>(x))
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
