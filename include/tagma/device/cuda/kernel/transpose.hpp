// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Transposition on the GPU.

#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/expr/op/transpose.hpp"

namespace tagma::device {
namespace cuda::detail {

inline void transpose(const kernel_args& args, const run_context& context) {
  const shape &in = args.in[0].dims, &out = args.out.dims;
  moved_box box;
  for (int a = 0; a < out.rank; ++a) {
    const auto from = static_cast<int>(args.attributes[a]);
    box.add(out[a], in.elements(from + 1, in.rank), out.elements(a + 1, out.rank));
  }
  move(args.in[0].data, args.out.data, box, size_of(args.out.type), context);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::transpose>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::transpose};
};

}  // namespace tagma::device
