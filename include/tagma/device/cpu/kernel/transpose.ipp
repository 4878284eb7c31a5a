// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of transpose.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL moved_axes::moved_axes(const shape& in, const shape& out, ir::attribute_list order) {
  std::int64_t strides[max_rank]{}, stride = 1;
  for (int a = in.rank - 1; a >= 0; --a) {
    strides[a] = stride;
    stride *= in[a];
  }
  for (int a = 0; a < out.rank; ++a) {
    if (out[a] == 1) continue;
    const std::int64_t from = strides[order[a]];
    if (count > 0 && axis[count - 1].from == from * out[a]) {
      axis[count - 1].count *= out[a];
      axis[count - 1].from = from;
    } else {
      axis[count++] = {out[a], from, 0};
    }
  }
  stride = 1;
  for (int a = count - 1; a >= 0; --a) {
    axis[a].to = stride;
    stride *= axis[a].count;
  }
}

TAGMA_DECL void moved_axes::offsets(std::int64_t index, unsigned skipped, std::int64_t& from, std::int64_t& to) const {
  from = to = 0;
  for (int a = count - 1; a >= 0; --a) {
    if ((skipped >> a) & 1) continue;
    from += index % axis[a].count * axis[a].from;
    to += index % axis[a].count * axis[a].to;
    index /= axis[a].count;
  }
}

TAGMA_DECL void transpose(const kernel_args& args, const run_context& context, block_mover move) {
  if (args.out.elements() == 0) return;
  const moved_axes axes(args.in[0].dims, args.out.dims, args.attributes);
  const auto size = static_cast<std::int64_t>(size_of(args.out.type));
  if (axes.count == 0 || axes.axis[axes.count - 1].from == 1) {
    const std::int64_t row = axes.count == 0 ? 1 : axes.axis[axes.count - 1].count;
    return over_pieces(args.out.elements() / row, row * size, context, [&](std::int64_t first, std::int64_t end) {
      // Rows that follow each other along the axis before the last one at once.
      const int before = axes.count - 2;
      const moved_axis inner = before >= 0 ? axes.axis[before] : moved_axis{};
      for (std::int64_t p = first, n = 0; p < end; p += n) {
        std::int64_t from = 0, to = 0;
        axes.offsets(p, axes.count == 0 ? 0 : 1u << (axes.count - 1), from, to);
        const std::int64_t rest = inner.count - p % inner.count;
        n = rest < end - p ? rest : end - p;
        copy_rows(args.out.data + to * size, row * size, args.in[0].data + from * size, inner.from * size, n,
                  row * size);
      }
    });
  }
  int near = 0;  // the axis along which the input is dense
  while (axes.axis[near].from != 1) ++near;
  const int last = axes.count - 1;
  const moved_axis &rows = axes.axis[near], &columns = axes.axis[last];
  const std::int64_t high = pieces(block_bytes, size), strips = pieces(rows.count, high);
  const std::int64_t parts = args.out.elements() / rows.count / columns.count * strips;
  over_pieces(parts, high * columns.count * size, context, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t p = first; p < end; ++p) {
      std::int64_t from = 0, to = 0;
      axes.offsets(p / strips, 1u << near | 1u << last, from, to);
      const std::int64_t row = p % strips * high;
      move(args.out.data + (to + row * rows.to) * size, args.in[0].data + (from + row) * size,
           rows.count - row < high ? rows.count - row : high, columns.count, rows.to * size, columns.from * size);
    }
  });
}

}  // namespace tagma::device::cpu::detail
