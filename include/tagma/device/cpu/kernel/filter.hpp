// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels of the CPU that find how large their result is.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/ordered.hpp"
#include "tagma/expr/op/filter.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Elements that are counted, and then written, as one piece.
inline constexpr std::int64_t filter_piece = 1 << 14;

template <class T>
[[nodiscard]] bool is_nonzero(const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    return x;
  else
    return static_cast<compute_t<T>>(x) != compute_t<T>(0);
}

/// Writes where elements [first, last) are not 0.
/// @param mask what the positions are counted in, along each axis; of rank 0: in all elements
template <class T>
void write_positions(const T* from, std::int64_t first, std::int64_t last, const shape& mask, std::int64_t* to) {
  for (std::int64_t i = first; i < last; ++i) {
    if (!is_nonzero(from[i])) continue;
    if (mask.rank == 0) {
      *to++ = i;
      continue;
    }
    std::int64_t rest = i;
    for (int axis = mask.rank - 1; axis > 0; --axis) {
      to[axis] = rest % mask[axis];
      rest /= mask[axis];
    }
    to[0] = rest;
    to += mask.rank;
  }
}

/// Counts the pieces, side by side, and then writes each behind those before it.
template <class T>
void nonzero(const kernel_args& args, const run_context& context) {
  const T* const from = args.in[0].as<const T>();
  auto* const to = args.out.as<std::int64_t>();
  const std::int64_t n = args.in[0].elements(), pieces = (n + filter_piece - 1) / filter_piece;
  std::int64_t* const before = static_cast<scratch<std::int64_t>*>(args.state)->data();
  const auto end_of = [n](std::int64_t p) { return (p + 1) * filter_piece < n ? (p + 1) * filter_piece : n; };
  constexpr auto bytes = static_cast<std::int64_t>(filter_piece * sizeof(T));
  over_pieces(pieces, bytes, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      std::int64_t count = 0;
      for (std::int64_t i = p * filter_piece; i < end_of(p); ++i) count += is_nonzero(from[i]);
      before[p] = count;
    }
  });
  std::int64_t total = 0;
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::int64_t count = before[p];
    before[p] = total;
    total += count;
  }
  const bool flat = args.attributes[0] != 0;
  const shape mask = flat ? shape{} : args.in[0].dims;
  over_pieces(pieces, 4 * bytes, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p)
      write_positions(from, p * filter_piece, end_of(p), mask, to + before[p] * (flat ? 1 : mask.rank));
  });
  args.late->set(0, total);
}

/// A table of the elements so far: each slot has one more than the position among the values, 0 is free. There is room
/// for twice as many, so that few slots in a row are taken.
struct table_of_values final : kernel_state {
  explicit table_of_values(std::int64_t n) : first(n), bits(1) {
    while ((std::int64_t{1} << bits) < 2 * n) ++bits;
    slots = runtime::aligned_bytes(static_cast<std::size_t>(std::int64_t{8} << bits));
  }
  scratch<std::int64_t> first;  ///< where each value came first
  int bits;
  runtime::aligned_bytes slots;
};

template <class T>
void unique(const kernel_args& args, const run_context&) {
  const T* const from = args.in[0].as<const T>();
  const std::int64_t n = args.in[0].elements();
  auto& table = *static_cast<table_of_values*>(args.state);
  auto* const slots = reinterpret_cast<std::int64_t*>(table.slots.data());
  std::int64_t* const first = table.first.data();
  auto *const at = args.outs[1].as<std::int64_t>(), *const counts = args.outs[2].as<std::int64_t>();
  const std::uint64_t mask = (std::uint64_t{1} << table.bits) - 1;
  std::memset(table.slots.data(), 0, table.slots.size());
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    // Equal elements have equal words. NaN equals nothing, so it gets no slot.
    const bool is_number = static_cast<compute_t<T>>(from[i]) == static_cast<compute_t<T>>(from[i]);
    std::uint64_t h = (static_cast<std::uint64_t>(ordered_word(from[i])) * 0x9e3779b97f4a7c15ull) >> (64 - table.bits);
    std::int64_t value = found;
    for (; is_number && slots[h] != 0; h = (h + 1) & mask)
      if (static_cast<compute_t<T>>(from[first[slots[h] - 1]]) == static_cast<compute_t<T>>(from[i])) {
        value = slots[h] - 1;
        break;
      }
    if (value == found) {
      first[found++] = i;
      if (is_number) slots[h] = found;
      if (counts != nullptr) counts[value] = 0;
    }
    if (at != nullptr) at[i] = value;
    if (counts != nullptr) ++counts[value];
  }
  if (args.outs[0].data != nullptr)
    for (std::int64_t i = 0; i < found; ++i) args.outs[0].as<T>()[i] = from[first[i]];
  args.late->set(0, found, 0);
  args.late->set(0, found, 2);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::nonzero>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{
      &cpu::detail::nonzero<stored<In>>, [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
        const std::int64_t n = args.in[0].elements();
        return make_owned<cpu::scratch<std::int64_t>>(n / cpu::detail::filter_piece + 1);
      }};
};
template <>
struct kernel<on_cpu, ir::key<op::unique>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::unique<stored<Out>>,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::detail::table_of_values>(args.in[0].elements());
                                      }};
};

}  // namespace tagma::device
