// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused element-wise loops, as far as they are the same on all devices. The type of a loop is its recipe (what it
/// loads, which operations follow), so loops of equal recipe anywhere in a program are one function; extents and
/// strides reach it as run-time numbers.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/plan/compile.hpp"

namespace tagma::device {

/// Types in a row.
template <class...>
struct types;

/// A tensor that a loop reads: its element type, and whether neighbours are neighbours in memory or all the same.
template <dtype Type, bool Contiguous>
struct load_of {
  using stored_type = stored<Type>;
  static constexpr bool contiguous = Contiguous;
};

/// An operation of a loop. Operands count loads first, then earlier operations.
template <const char& Operation, dtype Type, int A, int B, int C>
struct operation_of {
  using stored_type = stored<Type>;
};

/// A loop on a device, with `entry`.
/// @tparam Loads,Operations `types<...>`
template <class Device, class Loads, class Operations>
struct fused_loop;

/// The most tensors that a loop reads.
inline constexpr std::size_t most_loads = ir::max_group_loads + 4;

/// The extents of a loop. Innermost axes along which all tensors step or stand still together are joined into one.
struct loop_extents {
  std::int64_t inner = 1;  ///< elements of the joined axis
  std::int64_t rows = 1;   ///< how often it is run along
  std::int64_t extents[max_rank]{};
  /// Of each tensor, bytes from neighbour to neighbour along the axes around, 0 where they are the same.
  std::int64_t strides[most_loads][max_rank]{};
  std::int32_t axes = 0;  ///< around the joined one

  /// By the declared shapes, as the plan was made.
  explicit loop_extents(const kernel_args& args);
};

namespace detail {

/// What one round of a loop holds: its loads, then what its operations make.
template <int Index, class Value>
struct loop_slot {
  Value value;
};
template <class Indices, class... Values>
struct loop_slots;
template <std::size_t... I, class... Values>
struct loop_slots<std::index_sequence<I...>, Values...> : loop_slot<static_cast<int>(I), Values>... {};

template <int I, class Value>
TAGMA_DEVICE Value& slot(loop_slot<I, Value>& s) {
  return s.value;
}

/// The last of some types.
template <class... T>
using last_of = std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>;

}  // namespace detail
}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/loop.ipp"
#endif
