// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Transposition on the CPU: rows are copied whole where the last axis stays last, and moved in square blocks where it
/// does not, so that both sides stay in the cache.

#include <cstring>
#include <utility>

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

/// Bytes along each side of the blocks that are moved: a cache line, so that each is read once and written once,
/// wherever the others that are in use lie.
inline constexpr std::int64_t block_bytes = 64;

/// Moves a rectangle: `rows` run along one axis of the input, no more than a block has, `columns` along one of the
/// output. The ways from one row and column to the next are in bytes.
using block_mover = void (*)(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns,
                             std::int64_t to_row, std::int64_t from_column);

/// Element by element: for those that fill no square.
template <std::size_t Size>
void move_elements(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                   std::int64_t from_column) {
  constexpr auto size = static_cast<std::int64_t>(Size), most = block_bytes / size;
  for (std::int64_t c = 0; c < columns; c += most, to += block_bytes, from += most * from_column) {
    const std::int64_t count = columns - c < most ? columns - c : most;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::byte* source = from + r * size;
      std::byte* const target = to + r * to_row;
      for (std::int64_t k = 0; k < count; ++k, source += from_column) std::memcpy(target + k * size, source, Size);
    }
  }
}

/// Squares of elements of eight bytes and fewer whose rows are vectors of 16 bytes, which every processor has.
template <class T>
struct moved_square {
  typedef T vector __attribute__((vector_size(16)));
  static constexpr int side = 16 / sizeof(T);

  /// The lower halves, element by element in turn.
  TAGMA_INLINE static vector low(const vector& a, const vector& b) {
    if constexpr (side == 16)
      return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    else if constexpr (side == 8)
      return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (side == 4)
      return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else
      return __builtin_shufflevector(a, b, 0, 2);
  }
  TAGMA_INLINE static vector high(const vector& a, const vector& b) {
    if constexpr (side == 16)
      return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    else if constexpr (side == 8)
      return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    else if constexpr (side == 4)
      return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else
      return __builtin_shufflevector(a, b, 1, 3);
  }
  /// @param to in a block
  static void move(std::byte* to, const std::byte* from, std::int64_t from_column) {
    if constexpr (side == 4) {  // in registers
      vector a, b, c, d;
      std::memcpy(&a, from, 16), std::memcpy(&b, from + from_column, 16);
      std::memcpy(&c, from + 2 * from_column, 16), std::memcpy(&d, from + 3 * from_column, 16);
      const vector p = low(a, c), q = low(b, d), r = high(a, c), s = high(b, d);
      a = low(p, q), b = high(p, q), c = low(r, s), d = high(r, s);
      std::memcpy(to, &a, 16), std::memcpy(to + block_bytes, &b, 16);
      std::memcpy(to + 2 * block_bytes, &c, 16), std::memcpy(to + 3 * block_bytes, &d, 16);
      return;
    }
    vector one[std::size_t{side}], other[std::size_t{side}], *now = one, *next = other;
    for (int i = 0; i < side; ++i, from += from_column) std::memcpy(now + i, from, 16);
    for (int round = 1; round < side; round *= 2) {
      for (int i = 0; i < side / 2; ++i) {
        next[2 * i] = low(now[i], now[i + side / 2]);
        next[2 * i + 1] = high(now[i], now[i + side / 2]);
      }
      std::swap(now, next);
    }
    for (int i = 0; i < side; ++i) std::memcpy(to + i * block_bytes, now + i, 16);
  }
};

/// The same as `move_elements`, by way of a block of its own: each line is read at once, and written at once. From
/// column to column it may be a power of two, and then lines of few columns only are in the cache at a time.
template <class T>
void move_block(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
                std::int64_t from_column) {
  using square = moved_square<T>;
  constexpr std::int64_t size = sizeof(T), most = block_bytes / size;
  const std::int64_t high = rows / square::side * square::side;
  for (std::int64_t c = 0; c < columns; c += most, to += block_bytes, from += most * from_column) {
    const std::int64_t count = columns - c < most ? columns - c : most, wide = count / square::side * square::side;
    alignas(64) std::byte block[std::size_t{most * block_bytes}];
    if constexpr (size == 8)  // with fewer bytes, a square has enough loads under way
      for (std::int64_t k = most; k < 2 * most && c + k < columns; ++k) __builtin_prefetch(from + k * from_column);
    for (std::int64_t k = 0; k < wide; k += square::side)
      for (std::int64_t r = 0; r < high; r += square::side)
        square::move(block + r * block_bytes + k * size, from + k * from_column + r * size, from_column);
    for (std::int64_t r = 0; r < high; ++r)
      if (wide == most)
        std::memcpy(to + r * to_row, block + r * block_bytes, block_bytes);
      else
        for (std::int64_t k = 0; k < wide * size; k += 16)
          std::memcpy(to + r * to_row + k, block + r * block_bytes + k, 16);
    if (wide < count)
      move_elements<sizeof(T)>(to + wide * size, from + wide * from_column, high, count - wide, to_row, from_column);
    if (high < rows)
      move_elements<sizeof(T)>(to + high * to_row, from + high * size, rows - high, count, to_row, from_column);
  }
}

/// @param move for elements of the size of these
void transpose(const kernel_args& args, const run_context& context, block_mover move);

/// Only what moves elements of the sizes that a program has is compiled.
template <std::size_t Size>
void transpose_of(const kernel_args& args, const run_context& context) {
  if constexpr (Size == 1)
    transpose(args, context, &move_block<std::uint8_t>);
  else if constexpr (Size == 2)
    transpose(args, context, &move_block<std::uint16_t>);
  else if constexpr (Size == 4)
    transpose(args, context, &move_block<std::uint32_t>);
  else if constexpr (Size == 8)
    transpose(args, context, &move_block<std::uint64_t>);
  else
    transpose(args, context, &move_elements<Size>);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::transpose>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::transpose_of<size_of(Out)>};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/transpose.ipp"
#endif
