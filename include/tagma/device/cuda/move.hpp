// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Moves elements between places of the device, whatever their type: boxes of tensors, repetitions, transpositions.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/libraries.hpp"

namespace tagma::device::cuda {

/// Words of 1 to 16 bytes, in which memory is moved.
template <std::size_t Bytes>
struct word;
template <>
struct word<1> {
  using type = std::uint8_t;
};
template <>
struct word<2> {
  using type = std::uint16_t;
};
template <>
struct word<4> {
  using type = std::uint32_t;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};

/// Calls `some(word)` with a zero of the type of `bytes` bytes.
template <class Some>
void with_word(std::size_t bytes, const Some& some) {
  switch (bytes) {
    case 1:
      return some(word<1>::type{});
    case 2:
      return some(word<2>::type{});
    case 4:
      return some(word<4>::type{});
    case 8:
      return some(word<8>::type{});
    default:
      return some(word<16>::type{});
  }
}

/// The largest word that divides all of these numbers of bytes.
[[nodiscard]] constexpr std::size_t common_word(std::uint64_t bytes) {
  const std::uint64_t lowest_bit = bytes & (~bytes + 1);
  return lowest_bit == 0 || lowest_bit > 16 ? 16 : static_cast<std::size_t>(lowest_bit);
}

/// A box of elements: its axes, outermost first, and how far apart their neighbours are on both sides.
struct moved_box {
  static constexpr int most = 2 * max_rank;
  std::int64_t extents[most]{};
  std::int64_t from[most]{};
  std::int64_t to[most]{};
  std::int32_t count = 0;

  /// Adds an axis inside of those that are there. Neighbours that stay neighbours on both sides are joined.
  void add(std::int64_t extent, std::int64_t step_from, std::int64_t step_to) {
    if (extent == 1) return;
    if (count > 0 && from[count - 1] == step_from * extent && to[count - 1] == step_to * extent)
      --count, extent *= extents[count];
    extents[count] = extent;
    from[count] = step_from;
    to[count++] = step_to;
  }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (int a = 0; a < count; ++a) n *= extents[a];
    return n;
  }
  /// Counts in words instead of elements; returns the bytes of a word. They are as large as all rows and both addresses
  /// allow.
  [[nodiscard]] std::size_t widen(const void* source, const void* target, std::size_t size) {
    const int last = count - 1;
    if (count == 0 || from[last] != 1 || to[last] != 1) return size;
    std::uint64_t all = reinterpret_cast<std::uintptr_t>(source) | reinterpret_cast<std::uintptr_t>(target);
    all |= static_cast<std::uint64_t>(extents[last]) * size;
    for (int a = 0; a < last; ++a)
      all |= (static_cast<std::uint64_t>(from[a]) * size) | (static_cast<std::uint64_t>(to[a]) * size);
    const std::size_t bytes = common_word(all);
    if (bytes <= size) return size;
    const auto each = static_cast<std::int64_t>(bytes / size);
    extents[last] /= each;
    for (int a = 0; a < last; ++a) from[a] /= each, to[a] /= each;
    return bytes;
  }
  /// Where element `index` is on both sides, counted along the last axis first.
  TAGMA_DEVICE void find(std::int64_t index, std::int64_t& source, std::int64_t& target) const {
    source = target = 0;
    unravel(index, extents, count, [&](int a, std::int64_t at) {
      source += at * from[a];
      target += at * to[a];
    });
  }
};

namespace detail {

template <class Word>
struct move_body {
  struct arguments {
    const Word* from;
    Word* to;
    moved_box box;
    std::int64_t count;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      std::int64_t source, target;
      a.box.find(i, source, target);
      a.to[target] = a.from[source];
    }
  }
};

/// Moves squares of 32 times 32 elements by way of the memory of a block, so that neighbouring threads read neighbours
/// and write neighbours although these are not the same.
template <class Word>
struct transpose_body {
  static constexpr int side = 32;
  struct arguments {
    const Word* from;
    Word* to;
    moved_box others;                    ///< all axes but the two
    std::int64_t rows, columns;          ///< rows run along neighbours of the source, columns along those of the target
    std::int64_t row_step, column_step;  ///< from a row to the next in the target, from a column in the source
    std::int64_t row_tiles, column_tiles, tiles;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    auto* square = reinterpret_cast<Word*>(at.shared);
    const int x = at.thread % side, y = at.thread / side, step = at.threads / side;
    for (std::int64_t b = at.block; b < a.tiles; b += at.blocks) {
      const std::int64_t rest = quotient(b, a.column_tiles), outer = quotient(rest, a.row_tiles);
      const std::int64_t column = (b - rest * a.column_tiles) * side, row = (rest - outer * a.row_tiles) * side;
      std::int64_t source, target;
      a.others.find(outer, source, target);
      for (int i = y; i < side; i += step)
        if (row + x < a.rows && column + i < a.columns)
          square[i * (side + 1) + x] = a.from[source + row + x + (column + i) * a.column_step];
      at.wait();
      for (int i = y; i < side; i += step)
        if (row + i < a.rows && column + x < a.columns)
          a.to[target + (row + i) * a.row_step + column + x] = square[x * (side + 1) + i];
      at.wait();
    }
  }
};

}  // namespace detail

/// Moves a box of elements of `size` bytes. Every element of the target is written once.
inline void move(const void* from, void* to, moved_box box, std::size_t size, const run_context& context) {
  const std::int64_t elements = box.elements();
  if (elements == 0) return;
  int near = -1;  // the axis along which the source is dense
  const int last = box.count - 1;
  for (int a = 0; a < last; ++a)
    if (box.from[a] == 1) near = a;
  if (near >= 0 && box.to[last] == 1 && box.from[last] != 1 && box.extents[near] >= 8 && box.extents[last] >= 8) {
    moved_box others;
    for (int a = 0; a < last; ++a)
      if (a != near) others.add(box.extents[a], box.from[a], box.to[a]);
    with_word(size, [&](auto zero) {
      using element = decltype(zero);
      using body = detail::transpose_body<element>;
      constexpr std::int64_t side = body::side;
      const std::int64_t rows = box.extents[near], columns = box.extents[last];
      const std::int64_t row_tiles = pieces(rows, side), column_tiles = pieces(columns, side);
      const std::int64_t tiles = others.elements() * row_tiles * column_tiles;
      launch<body>(geometry::blocks_for(tiles, side * (side + 1) * sizeof(element)), context,
                   {static_cast<const element*>(from), static_cast<element*>(to), others, rows, columns, box.to[near],
                    box.from[last], row_tiles, column_tiles, tiles});
    });
    return;
  }
  const std::size_t bytes = box.widen(from, to, size);
  with_word(bytes, [&](auto zero) {
    using element = decltype(zero);
    const std::int64_t count = box.elements();
    launch<detail::move_body<element>>(geometry::over(count), context,
                                       {static_cast<const element*>(from), static_cast<element*>(to), box, count});
  });
}

/// Moves the elements of a box of these extents from one tensor to another.
/// @param from_first,to_first where the box begins in each of them
inline void move_box(const operand& from, const extent* from_first, const operand& to, const extent* to_first,
                     const shape& extents, const run_context& context) {
  const std::size_t size = size_of(to.type);
  const std::byte* source = from.data;
  std::byte* target = to.data;
  moved_box box;
  for (int a = 0; a < extents.rank; ++a) {
    const extent f = from.dims.elements(a + 1, from.dims.rank), t = to.dims.elements(a + 1, to.dims.rank);
    source += from_first[a] * f * static_cast<std::int64_t>(size);
    target += to_first[a] * t * static_cast<std::int64_t>(size);
    box.add(extents[a], f, t);
  }
  move(source, target, box, size, context);
}

}  // namespace tagma::device::cuda
