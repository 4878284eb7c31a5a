// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of concat.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL repeated_rows::repeated_rows(const shape& in, const shape& out, std::int64_t first) : in_(in), out_(out) {
  std::int64_t stride = 1;
  for (int a = in.rank - 2; a >= 0; --a) {
    at_[a] = first % out[a];
    from_[a] = at_[a] % in[a];
    row_ += from_[a] * stride;
    first /= out[a];
    stride *= in[a];
  }
}

TAGMA_DECL std::int64_t repeated_rows::neighbours() const {
  const int a = in_.rank - 2;
  return a < 0 ? 1 : in_[a] - from_[a];
}

TAGMA_DECL void repeated_rows::next(std::int64_t count) {
  std::int64_t stride = 1;
  for (int a = in_.rank - 2; a >= 0; --a, count = 1) {
    row_ += count * stride;
    from_[a] += count;
    at_[a] += count;
    if (from_[a] == in_[a]) row_ -= in_[a] * stride, from_[a] = 0;
    if (at_[a] < out_[a]) return;
    at_[a] = 0;
    stride *= in_[a];
  }
}

TAGMA_DECL void tile(const kernel_args& args, const run_context& context) {
  const shape &in = args.in[0].dims, &out = args.out.dims;
  if (out.elements() == 0) return;
  const auto size = static_cast<std::int64_t>(size_of(args.out.type));
  const std::int64_t from = row_length(in) * size, to = row_length(out) * size;
  over_pieces(out.elements() * size / to, to, context, [&](std::int64_t first, std::int64_t last) {
    repeated_rows rows(in, out, first);
    const std::int64_t together = from <= 64 ? 16 : 1;
    for (std::int64_t row = first, count = 0; row < last; row += count) {
      count = rows.neighbours() < last - row ? rows.neighbours() : last - row;
      if (count > together) count = together;
      std::byte* target = args.out.data + row * to;
      const std::byte* source = args.in[0].data + rows.row() * from;
      if (together > 1) {
        for (std::int64_t done = 0; done < to; done += from) copy_rows(target + done, to, source, from, count, from);
      } else {
        // Short rows are read together with what was written of the result: fewer calls.
        copy_bytes(target, source, from);
        for (std::int64_t done = from, most = from; done < to; done += most) {
          if (from < 512) source = target, most = done;
          copy_bytes(target + done, source, most < to - done ? most : to - done);
        }
      }
      rows.next(count);
    }
  });
}

TAGMA_DECL std::int64_t repetitions_of_rows(const kernel_args& args) {
  std::int64_t repetitions = 1;
  for (int a = 0; a < args.out.dims.rank - 1; ++a) repetitions *= args.attributes[a];
  return repetitions;
}

TAGMA_DECL std::int64_t repeated_row(const kernel_args& args, std::int64_t row, std::int64_t k) {
  const shape &part = args.out.dims, &whole = args.in[0].dims;
  std::int64_t at = 0, stride = 1;
  for (int a = part.rank - 2; a >= 0; --a) {
    const std::int64_t multiple = args.attributes[a];
    at += (row % part[a] + k % multiple * part[a]) * stride;
    row /= part[a];
    k /= multiple;
    stride *= whole[a];
  }
  return at;
}

}  // namespace tagma::device::cpu::detail
