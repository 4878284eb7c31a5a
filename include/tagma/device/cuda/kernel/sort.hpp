// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorts on the GPU.

#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/order.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma::device {
namespace cuda::detail {

/// For kernels whose result is an order of as many positions as it has elements.
inline owned<kernel_state> prepare_order(const kernel_args& args, const run_context& context) {
  ordered_positions::reserve(args.out.elements(), context);
  return nullptr;
}

template <class T>
void argsort(const kernel_args& args, const run_context& context) {
  order_rows<T>(args.in[0], args.out, args.attributes[0] != 0, context);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::argsort>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::argsort<stored<In>>, &cuda::detail::prepare_order};
};

}  // namespace tagma::device
