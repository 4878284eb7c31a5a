// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the largest or smallest elements are.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu::detail {

/// Where `x` is beyond what has been found. NaN is beyond all numbers, as in NumPy and PyTorch.
template <bool Largest, class P>
TAGMA_INLINE auto goes_beyond(const P& x, const P& best) {
  const auto beyond = Largest ? x > best : x < best;
  if constexpr (floating<typename P::value_type>)
    return beyond | ((x != x) & (best == best));
  else
    return beyond;
}

/// The position of the extreme of `n` elements that are `stride` elements apart.
template <class T, bool Largest>
TAGMA_INLINE void extreme_one_by_one(const T* from, std::int64_t n, std::int64_t stride, std::int64_t* to) {
  using C = compute_t<T>;
  C best = static_cast<C>(*from);
  std::int64_t where = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto x = static_cast<C>(from[k * stride]);
    if (x != x) {  // hardly ever, unlike the rest, which is without a branch
      where = k;
      break;
    }
    where = (Largest ? x > best : x < best) ? k : where;
    best = (Largest ? x > best : x < best) ? x : best;
  }
  *to = where;
}

/// Positions of the extremes of columns, of `n` rows that are `stride` elements apart.
template <class T, bool Largest>
struct extremes_of_columns {
  using C = compute_t<T>;
  using I = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>;
  using P = pack<C, 8>;

  /// The most columns of a call.
  static constexpr std::int64_t widest = 256;
  /// Rows that are looked at before the next columns are: what is read are neighbours.
  static constexpr std::int64_t together = 16;

  TAGMA_INLINE static void run(const T* from, std::int64_t n, std::int64_t columns, std::int64_t stride,
                               std::int64_t* to) {
    std::int64_t i = 0;
    if ((sizeof(I) == 8 || n <= INT32_MAX) && columns >= 8) {
      C best[widest];
      I where[widest];
      for (; i < columns; ++i) best[i] = static_cast<C>(from[i]), where[i] = 0;
      for (std::int64_t k = 1; k < n; k += together)
        some_rows(from, k, n - k < together ? n : k + together, columns, stride, best, where);
      for (i = 0; i < columns; ++i) to[i] = where[i];
    }
    for (; i < columns; ++i) extreme_one_by_one<T, Largest>(from + i, n, stride, to + i);
  }

 private:
  TAGMA_INLINE static void some_rows(const T* from, std::int64_t first, std::int64_t end, std::int64_t columns,
                                     std::int64_t stride, C* best, I* where) {
    for (std::int64_t i = 0; i < columns; i += 8) {
      // What remains of the last pack is looked at with the columns before it, once more.
      const std::int64_t at = i + 8 <= columns ? i : columns - 8;
      P b = load<8>(static_cast<const C*>(best) + at);
      auto w = load<8>(static_cast<const I*>(where) + at);
      const T* row = from + first * stride + at;
      for (std::int64_t k = first; k < end; ++k, row += stride) {
        const P x = load<8>(row);
        const auto beyond = goes_beyond<Largest>(x, b);
        b = select(beyond, x, b);
        w = select(mask<sizeof(I), 8>{convert<I>(beyond.bits)}, splat<pack<I, 8>>(k), w);
      }
      store(best + at, b);
      store(where + at, w);
    }
  }
};

/// The position of the first element that is `value`, or that is a NaN if this is one; there is one.
template <class T>
struct first_of_value {
  using C = compute_t<T>;
  TAGMA_INLINE static void run(const T* from, std::int64_t n, C value, std::int64_t* to) {
    const auto is = [](C one, C other) { return one == other || (one != one && other != other); };
    const auto v = splat<pack<C, 8>>(value);
    std::int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
      const auto a = load<8>(from + i), b = load<8>(from + i + 8), c = load<8>(from + i + 16),
                 d = load<8>(from + i + 24);
      auto found = (a == v) | (b == v) | (c == v) | (d == v);
      if constexpr (floating<C>)
        if (value != value) found = (a != a) | (b != b) | (c != c) | (d != d);
      if (any(found)) break;
    }
    while (!is(static_cast<C>(from[i]), value)) ++i;
    *to = i;
  }
};

}  // namespace tagma::device::cpu::detail
