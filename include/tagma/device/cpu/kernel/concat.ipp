// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of concat.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL std::int64_t repeated_row(const shape& in, const shape& out, std::int64_t row) {
  std::int64_t at = 0, stride = 1;
  for (int a = in.rank - 2; a >= 0; --a) {
    at += row % out[a] % in[a] * stride;
    row /= out[a];
    stride *= in[a];
  }
  return at;
}

TAGMA_DECL void tile(const kernel_args& args, const run_context& context) {
  const shape &in = args.in[0].dims, &out = args.out.dims;
  if (out.elements() == 0) return;
  const auto size = static_cast<std::int64_t>(size_of(args.out.type));
  const std::int64_t from = row_length(in) * size, to = row_length(out) * size;
  over_pieces(out.elements() * size / to, to, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      std::byte* target = args.out.data + row * to;
      copy_bytes(target, args.in[0].data + repeated_row(in, out, row) * from, from);
      for (std::int64_t done = from; done < to; done *= 2)
        copy_bytes(target + done, target, done < to - done ? done : to - done);
    }
  });
}

}  // namespace tagma::device::cpu::detail
