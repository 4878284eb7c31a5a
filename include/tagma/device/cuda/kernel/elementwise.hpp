// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations on the GPU, over single numbers.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/elementwise.hpp"

namespace tagma::device {

TAGMA_ELEMENTWISE_KERNELS(on_cuda, TAGMA_DEVICE)
TAGMA_SCALAR_KERNEL_OF_TWO(on_cuda, TAGMA_DEVICE, op::divide, cuda::divide(a, b))
TAGMA_SCALAR_KERNEL_OF_ONE(on_cuda, TAGMA_DEVICE, op::cast, cuda::convert<Out>(x))

template <>
struct scalar_kernel<on_cuda, ir::key<op::abs>> {
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
struct scalar_kernel<on_cuda, ir::key<op::sign>> {
  template <class Out, class T>
  TAGMA_DEVICE static Out apply(T x) {
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
      if (x < T(0)) return Out(-1);
    return x > T(0) ? Out(1) : x;
  }
};

}  // namespace tagma::device
