// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Transposition on the CPU: rows are copied whole where the last axis stays last, and moved in square blocks where it
/// does not, so that both sides stay in the cache.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/transpose.hpp"

namespace tagma::device::cpu {

namespace detail {

/// An axis of the result: its extent, and how far apart its neighbours are on both sides, in elements.
struct moved_axis {
  std::int64_t count = 1;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The axes of the result, without those of extent 1, neighbours joined that stay neighbours.
struct moved_axes {
  moved_axis axis[max_rank];
  int count = 0;

  moved_axes(const shape& in, const shape& out, ir::attribute_list order) {
    std::int64_t strides[max_rank]{}, stride = 1;
    for (int a = in.rank - 1; a >= 0; --a) {
      strides[a] = stride;
      stride *= in[a];
    }
    for (int a = 0; a < out.rank; ++a) {
      if (out[a] == 1) continue;
      const std::int64_t from = strides[order[static_cast<std::size_t>(a)]];
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

  /// The offsets of piece `index` of all axes but those marked.
  void offsets(std::int64_t index, unsigned skipped, std::int64_t& from, std::int64_t& to) const {
    from = to = 0;
    for (int a = count - 1; a >= 0; --a) {
      if ((skipped >> a) & 1) continue;
      from += index % axis[a].count * axis[a].from;
      to += index % axis[a].count * axis[a].to;
      index /= axis[a].count;
    }
  }
};

struct two_words {
  std::uint64_t words[2];
};

/// Moves a rectangle: `rows` run along one axis of the input, `columns` along one of the output.
template <class T>
struct transpose_body {
  static constexpr std::int64_t block = 16;  // of the usual elements, a cache line on both sides
  TAGMA_INLINE static void run(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                               std::int64_t from_column) {
    for (std::int64_t c = 0; c < columns; c += block) {
      const std::int64_t count = columns - c < block ? columns - c : block;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < count; ++k) to[r * to_row + c + k] = from[(c + k) * from_column + r];
    }
  }
};

template <class T>
void transpose_blocks(const kernel_args& args, const run_context& context, const moved_axes& axes) {
  int near = 0;  // the axis along which the input is dense
  while (axes.axis[near].from != 1) ++near;
  const int last = axes.count - 1;
  const moved_axis &rows = axes.axis[near], &columns = axes.axis[last];
  constexpr std::int64_t height = transpose_body<T>::block;
  const std::int64_t strips = pieces(rows.count, height);
  const std::int64_t parts = args.out.elements() / rows.count / columns.count * strips;
  const std::int64_t bytes = height * columns.count * static_cast<std::int64_t>(sizeof(T));
  over_pieces(parts, bytes, context, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t p = first; p < end; ++p) {
      std::int64_t from = 0, to = 0;
      axes.offsets(p / strips, 1u << near | 1u << last, from, to);
      const std::int64_t row = p % strips * height;
      dispatch<transpose_body<T>>(args.out.as<T>() + to + row * rows.to, args.in[0].as<const T>() + from + row,
                                  rows.count - row < height ? rows.count - row : height, columns.count, rows.to,
                                  columns.from);
    }
  });
}

inline void transpose(const kernel_args& args, const run_context& context) {
  if (args.out.elements() == 0) return;
  const moved_axes axes(args.in[0].dims, args.out.dims, args.attributes);
  const auto size = static_cast<std::int64_t>(size_of(args.out.type));
  if (axes.count == 0 || axes.axis[axes.count - 1].from == 1) {
    const std::int64_t row = axes.count == 0 ? 1 : axes.axis[axes.count - 1].count;
    return over_pieces(args.out.elements() / row, row * size, context, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t p = first; p < end; ++p) {
        std::int64_t from = 0, to = 0;
        axes.offsets(p, axes.count == 0 ? 0 : 1u << (axes.count - 1), from, to);
        copy_bytes(args.out.data + to * size, args.in[0].data + from * size, row * size);
      }
    });
  }
  switch (size) {
    case 1:
      return transpose_blocks<std::uint8_t>(args, context, axes);
    case 2:
      return transpose_blocks<std::uint16_t>(args, context, axes);
    case 4:
      return transpose_blocks<std::uint32_t>(args, context, axes);
    case 8:
      return transpose_blocks<std::uint64_t>(args, context, axes);
    default:
      return transpose_blocks<two_words>(args, context, axes);
  }
}

}  // namespace detail

template <>
struct kernel<ir::key<op::transpose>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::transpose};
};

}  // namespace tagma::device::cpu
