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

  moved_axes(const shape& in, const shape& out, ir::attribute_list order);

  /// The offsets of piece `index` of all axes but those marked.
  void offsets(std::int64_t index, unsigned skipped, std::int64_t& from, std::int64_t& to) const;
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

/// The same where the size is known to the compiler, which then calls nothing.
template <std::int64_t Bytes>
void copy_short_rows(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i, to += Bytes, from += step) std::memcpy(to, from, std::size_t{Bytes});
}

using block_mover = void (*)(std::byte*, const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

template <class T>
void move_block(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                std::int64_t from_column) {
  dispatch<transpose_body<T>>(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), rows, columns, to_row,
                              from_column);
}

/// Copies `count` rows of `bytes` bytes, `step` apart where they come from, to one place after the other.
void copy_rows(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t bytes, std::int64_t step);

/// For elements of `size` bytes.
[[nodiscard]] block_mover mover_of(std::int64_t size);

void transpose(const kernel_args& args, const run_context& context);

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::transpose>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::transpose};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/transpose.ipp"
#endif
