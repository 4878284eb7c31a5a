// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Transposition on the CPU: rows are copied whole where the last axis stays last, and moved in square blocks where it
/// does not, so that both sides stay in the cache.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/transpose.hpp"

namespace tagma::device {
namespace cpu::detail {

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

/// Elements along each side of the blocks that are moved: of the usual elements, a cache line.
inline constexpr std::int64_t transposed_rows = 16;

/// Moves a rectangle: `rows` run along one axis of the input, `columns` along one of the output.
template <class T>
struct transpose_body {
  TAGMA_INLINE static void run(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                               std::int64_t from_column) {
    for (std::int64_t c = 0; c < columns; c += transposed_rows) {
      const std::int64_t count = columns - c < transposed_rows ? columns - c : transposed_rows;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < count; ++k) to[r * to_row + c + k] = from[(c + k) * from_column + r];
    }
  }
};

using block_mover = void (*)(std::byte*, const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

template <class T>
void move_block(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                std::int64_t from_column) {
  dispatch<transpose_body<T>>(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), rows, columns, to_row,
                              from_column);
}

/// For elements of `size` bytes.
[[nodiscard]] inline block_mover mover_of(std::int64_t size) {
  switch (size) {
    case 1:
      return &move_block<std::uint8_t>;
    case 2:
      return &move_block<std::uint16_t>;
    case 4:
      return &move_block<std::uint32_t>;
    case 8:
      return &move_block<std::uint64_t>;
    default:
      return &move_block<two_words>;
  }
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
  int near = 0;  // the axis along which the input is dense
  while (axes.axis[near].from != 1) ++near;
  const int last = axes.count - 1;
  const moved_axis &rows = axes.axis[near], &columns = axes.axis[last];
  const block_mover move = mover_of(size);
  const std::int64_t strips = pieces(rows.count, transposed_rows);
  const std::int64_t parts = args.out.elements() / rows.count / columns.count * strips;
  over_pieces(parts, transposed_rows * columns.count * size, context, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t p = first; p < end; ++p) {
      std::int64_t from = 0, to = 0;
      axes.offsets(p / strips, 1u << near | 1u << last, from, to);
      const std::int64_t row = p % strips * transposed_rows;
      move(args.out.data + (to + row * rows.to) * size, args.in[0].data + (from + row) * size,
           rows.count - row < transposed_rows ? rows.count - row : transposed_rows, columns.count, rows.to,
           columns.from);
    }
  });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::transpose>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::transpose};
};

}  // namespace tagma::device
