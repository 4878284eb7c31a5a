// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that move boxes of elements, whatever their type: slices, padding, concatenation and their gradients. They
/// are the same on all devices that say how a box is moved.

#include "tagma/device/kernel.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/slice.hpp"

namespace tagma::device {

/// How a device moves elements. A specialisation has these functions, each with the context of the run:
///   move_box(from, from_first, to, to_first, extents): a box, where it begins in each of the two tensors
///   pad_box(from, to, to_first, value): a whole tensor, where it begins in the other one, and one element everywhere
///                                       around it; without one zeros, and empty strings
template <class Device>
struct movement;

/// Where a box begins that has no place of its own.
inline constexpr extent at_the_front[max_rank]{};

namespace detail {

template <class Device>
void slice(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  op::slice::first_positions(args.in[0].dims, args.attributes, first);
  movement<Device>::move_box(args.in[0], first, args.out, at_the_front, args.out.dims, context);
}

template <class Device>
void slice_gradient(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  op::slice::first_positions(args.out.dims, args.attributes, first);
  movement<Device>::pad_box(args.in[0], args.out, first, nullptr, context);
}

template <class Device>
void pad(const kernel_args& args, const run_context& context) {
  if (args.out.elements() == 0) return;
  extent first[max_rank]{};
  for (int i = 0; i < args.out.dims.rank; ++i) first[i] = args.attributes[2 * static_cast<std::size_t>(i)];
  movement<Device>::pad_box(args.in[0], args.out, first, args.in[1].data, context);
}

template <class Device>
void concat(const kernel_args& args, const run_context& context) {
  const auto axis = static_cast<int>(args.attributes[0]);
  extent first[max_rank]{};
  for (const operand& part : args.in) {
    movement<Device>::move_box(part, at_the_front, args.out, first, part.dims, context);
    first[axis] += part.dims[axis];
  }
}

template <class Device>
void split(const kernel_args& args, const run_context& context) {
  const auto axis = static_cast<int>(args.attributes[0]);
  extent first[max_rank]{};
  for (int k = 0; k < args.attributes[1]; ++k) {
    const operand& part = args.outs[k];
    if (part.data != nullptr) movement<Device>::move_box(args.in[0], first, part, at_the_front, part.dims, context);
    first[axis] += op::split::part_extent(args.attributes, args.in[0].dims[axis], k);
  }
}

template <class Device>
void part_of_whole(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  first[args.attributes[0]] = op::concat_part::begin(args.in, args.attributes, args.in[0].dims, args.out.dims);
  movement<Device>::move_box(args.in[0], first, args.out, at_the_front, args.out.dims, context);
}

template <class Device>
void part_into_whole(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  first[args.attributes[0]] = op::concat_part::begin(args.in, args.attributes, args.out.dims, args.in[0].dims);
  movement<Device>::pad_box(args.in[0], args.out, first, nullptr, context);
}

}  // namespace detail

template <class Device>
struct kernel<Device, ir::key<op::slice>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::slice<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::slice_gradient>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::slice_gradient<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::pad>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::pad<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::concat>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::concat<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::split>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::split<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::part_of_whole>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::part_of_whole<Device>};
};
template <class Device>
struct kernel<Device, ir::key<op::part_into_whole>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::part_into_whole<Device>};
};

}  // namespace tagma::device
