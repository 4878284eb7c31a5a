// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Repetition on the GPU.

#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/expr/op/concat.hpp"

namespace tagma::device {
namespace cuda::detail {

inline void tile(const kernel_args& args, const run_context& context) {
  const shape &in = args.in[0].dims, &out = args.out.dims;
  if (args.out.elements() == 0) return;
  moved_box box;
  for (int a = 0; a < in.rank; ++a) {
    const extent from = in.elements(a + 1, in.rank), to = out.elements(a + 1, out.rank);
    box.add(out[a] / in[a], 0, to * in[a]);
    box.add(in[a], from, to);
  }
  move(args.in[0].data, args.out.data, box, size_of(args.out.type), context);
}

/// The sum over the copies: each axis is one of copies and one of positions.
[[nodiscard]] inline reduction_plan sum_of_copies(const kernel_args& args) {
  reduction_axes axes;
  for (int a = 0; a < args.out.dims.rank; ++a) {
    axes.add(args.attributes[a], true);
    axes.add(args.out.dims[a], false);
  }
  return reduction_plan(axes);
}

template <class T>
owned<kernel_state> prepare_tile_gradient(const kernel_args& args, const run_context& context) {
  return reserve_workspace(context, reduction_bytes<join_sum<compute_t<T>>>(sum_of_copies(args)));
}

template <class T>
void tile_gradient(const kernel_args& args, const run_context& context) {
  reduce<join_sum<compute_t<T>>>(args.in[0].as<const T>(), args.out.as<T>(), sum_of_copies(args), context);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::tile>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::tile};
};
template <>
struct kernel<on_cuda, ir::key<op::tile_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::tile_gradient<stored<Out>>,
                                      &cuda::detail::prepare_tile_gradient<stored<Out>>};
};

}  // namespace tagma::device
