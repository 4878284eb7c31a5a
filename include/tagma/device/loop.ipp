// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of loop.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/loop.hpp"

namespace tagma::device {

TAGMA_COLD TAGMA_DECL loop_extents::loop_extents(const kernel_args& args) {
  const shape &out = args.out.dims, &declared = args.declared_out;
  const std::size_t loads = args.in.size();
  const auto stretched = [&](std::size_t l, int axis) {
    return plan::detail::is_stretched(args.declared[l], declared, axis);
  };
  axes = out.rank - plan::detail::innermost_axes(declared, loads, stretched);
  for (int a = axes; a < out.rank; ++a) inner *= out[a];
  for (int a = 0; a < axes; ++a) {
    extents[a] = out[a];
    rows *= out[a];
  }
  for (std::size_t l = 0; l < loads; ++l) {
    const shape& in = args.in[l].dims;
    auto stride = static_cast<std::int64_t>(size_of(args.in[l].type));
    for (int a = in.rank - 1; a >= 0; --a) {
      const int axis = a + out.rank - in.rank;
      if (axis < axes) strides[l][axis] = stretched(l, axis) ? 0 : stride;
      stride *= in[a];
    }
  }
}

}  // namespace tagma::device
