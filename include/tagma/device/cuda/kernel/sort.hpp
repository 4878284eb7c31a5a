// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorts on the GPU.

#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/order.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma::device::cuda {

namespace detail {

/// For kernels whose result is an order of as many positions as it has elements.
inline owned<kernel_state> prepare_order(const kernel_args& args, const run_context& context) {
  ordered_positions::reserve(args.out.elements(), context);
  return nullptr;
}

template <class T>
void argsort(const kernel_args& args, const run_context& context) {
  order_rows<T>(args.in[0], args.out, args.attributes[0] != 0, context);
}

}  // namespace detail

template <>
struct kernel<ir::key<op::argsort>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&detail::argsort<stored<In>>, &detail::prepare_order};
};

}  // namespace tagma::device::cuda
