// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Slices and padding on the GPU; elements are moved, whatever their type.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/expr/op/slice.hpp"

namespace tagma::device {
namespace cuda::detail {

inline void slice(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  op::slice::first_positions(args.in[0].dims, args.attributes, first);
  move_box(args.in[0], first, args.out, at_the_front, args.out.dims, context);
}

inline void slice_gradient(const kernel_args& args, const run_context& context) {
  extent first[max_rank]{};
  op::slice::first_positions(args.out.dims, args.attributes, first);
  clear_on_device(args.out, context);
  move_box(args.in[0], at_the_front, args.out, first, args.in[0].dims, context);
}

/// Writes one element everywhere.
template <class Word>
struct spread_body {
  struct arguments {
    Word* to;
    const Word* value;
    std::int64_t count;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const Word value = *a.value;
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) a.to[i] = value;
  }
};

inline void pad(const kernel_args& args, const run_context& context) {
  const std::int64_t count = args.out.elements();
  if (count == 0) return;
  with_word(size_of(args.out.type), [&](auto zero) {
    using element = decltype(zero);
    launch<spread_body<element>>(geometry::over(count), context,
                                 {args.out.as<element>(), args.in[1].as<const element>(), count});
  });
  extent first[max_rank]{};
  for (int i = 0; i < args.out.dims.rank; ++i) first[i] = args.attributes[2 * static_cast<std::size_t>(i)];
  move_box(args.in[0], at_the_front, args.out, first, args.in[0].dims, context);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::slice>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::slice};
};
template <>
struct kernel<on_cuda, ir::key<op::slice_gradient>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::slice_gradient};
};
template <>
struct kernel<on_cuda, ir::key<op::pad>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pad};
};

}  // namespace tagma::device
