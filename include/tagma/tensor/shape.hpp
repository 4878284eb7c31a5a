// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Static and dynamic extents as plain values.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

/// One extent of a tensor, in elements.
using extent = std::int64_t;

/// An extent that is known only when the program runs, such as the size of a batch.
inline constexpr extent dyn = -1;

/// The highest rank of a tensor.
inline constexpr int max_rank = 6;

/// What stands for a number of elements, or an extent, that 63 bits do not hold. No tensor has so many.
inline constexpr extent too_many = INT64_MAX;

/// The sum of two numbers, or `too_many`. One of them may be negative.
[[nodiscard]] constexpr extent bounded_sum(extent a, extent b) { return b > 0 && a > too_many - b ? too_many : a + b; }

namespace detail {
[[nodiscard]] TAGMA_COLD constexpr extent product_of_large(extent a, extent b) {
  return a > 0 && b > too_many / a ? too_many : a * b;
}
}  // namespace detail

/// The product of two numbers, or `too_many`. One of them may be a small negative one.
[[nodiscard]] constexpr extent bounded_product(extent a, extent b) {
  return ((a | b) >> 31) == 0 ? a * b : detail::product_of_large(a, b);
}

namespace detail {
[[noreturn]] void fail_rank(std::size_t rank);
}  // namespace detail

/// The extents of a tensor, outermost first; each is a number or `dyn`. A structural value, usable as template
/// argument.
struct shape {
  extent extents[max_rank]{};
  int rank = 0;

  constexpr shape() = default;
  /// Throw `invalid_argument` for more than six extents.
  constexpr shape(std::initializer_list<extent> list) {
    if (list.size() > max_rank) detail::fail_rank(list.size());
    for (const extent e : list) push_back(e);
  }
  constexpr explicit shape(array_view<const extent> list) {
    if (list.size() > static_cast<std::size_t>(max_rank)) detail::fail_rank(list.size());
    for (const extent e : list) push_back(e);
  }

  /// One axis more, at the end; there is no check that six are enough.
  constexpr void push_back(extent e) { extents[rank++] = e; }
  /// The extent of an axis, which is not checked.
  [[nodiscard]] constexpr extent operator[](int axis) const { return extents[axis]; }
  /// The same, to be changed.
  [[nodiscard]] constexpr extent& operator[](int axis) { return extents[axis]; }

  /// The extents of axes `first` to `last`, exclusive.
  [[nodiscard]] constexpr shape sub(int first, int last) const {
    shape s;
    for (int i = first; i < last; ++i) s.push_back(extents[i]);
    return s;
  }
  /// The extents in a row.
  [[nodiscard]] constexpr array_view<const extent> span() const { return {extents, rank}; }

  /// True if no extent is `dyn`.
  [[nodiscard]] constexpr bool is_static() const {
    for (int i = 0; i < rank; ++i)
      if (extents[i] == dyn) return false;
    return true;
  }

  /// True if no extent is `dyn`, or negative otherwise, which it is of no tensor.
  [[nodiscard]] constexpr bool is_known() const {
    for (int i = 0; i < rank; ++i)
      if (extents[i] < 0) return false;
    return true;
  }

  /// The number of elements, 1 for a scalar; `too_many` where 63 bits do not hold it. Every extent must be known.
  [[nodiscard]] constexpr extent elements() const { return elements(0, rank); }
  /// The same of axes `first` to `last`, exclusive.
  [[nodiscard, gnu::noinline]] constexpr extent elements(int first, int last) const {
    extent n = 1;
    for (int i = first; i < last; ++i) n = bounded_product(n, extents[i]);
    return n;
  }

  /// The same shape with every `dyn` replaced by `value`.
  [[nodiscard]] constexpr shape with_dyn(extent value) const {
    shape s = *this;
    for (int i = 0; i < rank; ++i)
      if (s.extents[i] == dyn) s.extents[i] = value;
    return s;
  }

  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.extents[i] != b.extents[i]) return false;
    return true;
  }
};

/// True if two extents can be the same at run time: equal, or one of them dynamic.
[[nodiscard]] constexpr bool compatible(extent a, extent b) { return a == dyn || b == dyn || a == b; }

/// True if two shapes can be the same at run time.
[[nodiscard]] constexpr bool compatible(const shape& a, const shape& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (!compatible(a.extents[i], b.extents[i])) return false;
  return true;
}

/// True if `a` and `b` broadcast by NumPy's rules: aligned at the last axis, extents equal or one of them 1. A dynamic
/// extent is compatible with every other.
[[nodiscard]] constexpr bool broadcastable(const shape& a, const shape& b) {
  for (int i = 1; i <= a.rank && i <= b.rank; ++i) {
    const extent x = a.extents[a.rank - i], y = b.extents[b.rank - i];
    if (x != y && x != 1 && y != 1 && x != dyn && y != dyn) return false;
  }
  return true;
}

/// The result of broadcasting. A dynamic extent stays dynamic beside 1 and takes the other's value beside a number; it
/// never stretches itself.
[[nodiscard]] constexpr shape broadcast(const shape& a, const shape& b) {
  const shape& longer = a.rank >= b.rank ? a : b;
  const shape& shorter = a.rank >= b.rank ? b : a;
  shape result = longer;
  for (int i = 1; i <= shorter.rank; ++i) {
    const extent x = longer.extents[longer.rank - i], y = shorter.extents[shorter.rank - i];
    if (x != y) result.extents[longer.rank - i] = x == 1 ? y : y == 1 ? x : x == dyn ? y : x;
  }
  return result;
}

/// "[32, 784]", with "?" for a dynamic extent.
[[nodiscard]] std::string to_string(const shape& s);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/tensor/shape.ipp"
#endif
