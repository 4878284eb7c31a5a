// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Slices and padding on the CPU; elements are moved, whatever their type.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/slice.hpp"

namespace tagma::device {
namespace cpu::detail {

inline void slice(const kernel_args& args, const run_context& context) {
  box b{args.out.dims, args.in[0].dims, args.out.dims, {}, {}};
  op::slice::first_positions(args.in[0].dims, args.attributes, b.from_first);
  copy_box(args.out.data, args.in[0].data, b, size_of(args.out.type), context);
}

inline void slice_gradient(const kernel_args& args, const run_context& context) {
  fill_zero(args.out);
  box b{args.in[0].dims, args.in[0].dims, args.out.dims, {}, {}};
  op::slice::first_positions(args.out.dims, args.attributes, b.to_first);
  copy_box(args.out.data, args.in[0].data, b, size_of(args.out.type), context);
}

inline void pad(const kernel_args& args, const run_context& context) {
  const std::size_t size = size_of(args.out.type), bytes = static_cast<std::size_t>(args.out.elements()) * size;
  if (bytes == 0) return;
  std::memcpy(args.out.data, args.in[1].data, size);
  for (std::size_t done = size; done < bytes; done *= 2)
    std::memcpy(args.out.data + done, args.out.data, done < bytes - done ? done : bytes - done);
  box b{args.in[0].dims, args.in[0].dims, args.out.dims, {}, {}};
  for (int i = 0; i < args.out.dims.rank; ++i) b.to_first[i] = args.attributes[2 * static_cast<std::size_t>(i)];
  copy_box(args.out.data, args.in[0].data, b, size, context);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::slice>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::slice};
};
template <>
struct kernel<on_cpu, ir::key<op::slice_gradient>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::slice_gradient};
};
template <>
struct kernel<on_cpu, ir::key<op::pad>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::pad};
};

}  // namespace tagma::device
