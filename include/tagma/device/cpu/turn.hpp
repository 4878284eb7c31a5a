// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows turned in registers, so that eight short ones lie side by side: lane r of a pack is of row r.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu {

/// The longest rows that are turned.
inline constexpr std::int64_t longest_turned = 32;

namespace detail {

/// The first or the second half of a's and b's lanes, by turns.
template <int Half, class T, int W>
TAGMA_INLINE pack<T, W> zip(const pack<T, W>& a, const pack<T, W>& b) {
  constexpr int f = Half * W / 2;
  if constexpr (split<T, W>) {
    if constexpr (Half == 0)
      return {zip<0>(a.lo, b.lo), zip<1>(a.lo, b.lo)};
    else
      return {zip<0>(a.hi, b.hi), zip<1>(a.hi, b.hi)};
  } else if constexpr (W == 2) {
    return {__builtin_shufflevector(a.v, b.v, f, f + W)};
  } else {
    return {__builtin_shufflevector(a.v, b.v, f, f + W, f + 1, f + 1 + W)};
  }
}

/// Lane i of pack k becomes lane k of pack i.
template <class T>
TAGMA_INLINE void turn_four(pack<T, 4>& a, pack<T, 4>& b, pack<T, 4>& c, pack<T, 4>& d) {
  if constexpr (sizeof(T) == 8 && !split<T, 4>) {  // what crosses the middle of a vector takes halves as a whole
    const auto p = __builtin_shufflevector(a.v, b.v, 0, 4, 2, 6), q = __builtin_shufflevector(a.v, b.v, 1, 5, 3, 7);
    const auto r = __builtin_shufflevector(c.v, d.v, 0, 4, 2, 6), s = __builtin_shufflevector(c.v, d.v, 1, 5, 3, 7);
    a.v = __builtin_shufflevector(p, r, 0, 1, 4, 5), b.v = __builtin_shufflevector(q, s, 0, 1, 4, 5);
    c.v = __builtin_shufflevector(p, r, 2, 3, 6, 7), d.v = __builtin_shufflevector(q, s, 2, 3, 6, 7);
    return;
  }
  const pack<T, 4> p = zip<0>(a, c), q = zip<1>(a, c), r = zip<0>(b, d), s = zip<1>(b, d);
  a = zip<0>(p, r), b = zip<1>(p, r), c = zip<0>(q, s), d = zip<1>(q, s);
}

}  // namespace detail

/// Eight rows of `n` elements: element k of row r goes to to[k * stride + r].
template <class T>
TAGMA_INLINE void turn_rows(const T* x, std::int64_t n, compute_t<T>* to, std::int64_t stride) {
  using C = compute_t<T>;
  if constexpr (!std::is_same_v<T, C>) {
    C wide[8 * longest_turned];
    for (std::int64_t i = 0; i < 8 * n; i += 8) store(wide + i, load<8>(x + i));
    return turn_rows(static_cast<const C*>(wide), n, to, stride);
  }
  if (n < 4) {
    for (std::int64_t k = 0; k < n; ++k)
      for (int r = 0; r < 8; ++r) to[k * stride + r] = static_cast<C>(x[r * n + k]);
    return;
  }
  // What remains of the last four elements is turned with those before it.
  for (std::int64_t k = 0; k < n; k += 4) {
    const std::int64_t at = k + 4 <= n ? k : n - 4;
    const T* from = x + at;
    C* out = to + at * stride;
    pack<C, 4> a = load<4>(from), b = load<4>(from + n), c = load<4>(from + 2 * n), d = load<4>(from + 3 * n);
    from += 4 * n;
    pack<C, 4> e = load<4>(from), f = load<4>(from + n), g = load<4>(from + 2 * n), h = load<4>(from + 3 * n);
    detail::turn_four(a, b, c, d);
    detail::turn_four(e, f, g, h);
    store(out, join(a, e));
    store(out + stride, join(b, f));
    store(out + 2 * stride, join(c, g));
    store(out + 3 * stride, join(d, h));
  }
}

/// The way back: `pack_of(k)` is element k of eight rows of `n` elements.
template <class T, class Packs>
TAGMA_INLINE void turn_back(const Packs& pack_of, std::int64_t n, T* y) {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  if constexpr (!std::is_same_v<T, C>) {
    C wide[8 * longest_turned];
    turn_back(pack_of, n, wide + 0);
    for (std::int64_t i = 0; i < 8 * n; i += 8) store(y + i, load<8>(static_cast<const C*>(wide) + i));
    return;
  }
  if (n < 4) {
    T lanes[8];
    for (std::int64_t k = 0; k < n; ++k) {
      store(lanes, pack_of(k));
      for (int r = 0; r < 8; ++r) y[r * n + k] = lanes[r];
    }
    return;
  }
  for (std::int64_t k = 0; k < n; k += 4) {
    const std::int64_t at = k + 4 <= n ? k : n - 4;
    const P p = pack_of(at), q = pack_of(at + 1), r = pack_of(at + 2), s = pack_of(at + 3);
    pack<C, 4> a = low_half(p), b = low_half(q), c = low_half(r), d = low_half(s);
    pack<C, 4> e = high_half(p), f = high_half(q), g = high_half(r), h = high_half(s);
    detail::turn_four(a, b, c, d);
    detail::turn_four(e, f, g, h);
    T* to = y + at;
    store(to, a), store(to + n, b), store(to + 2 * n, c), store(to + 3 * n, d);
    to += 4 * n;
    store(to, e), store(to + n, f), store(to + 2 * n, g), store(to + 3 * n, h);
  }
}

/// Short rows that are turned at once, so that each is a column of `rows_turned` elements.
inline constexpr std::int64_t rows_turned = 32;
template <class T>
struct turned_rows {
  TAGMA_INLINE static void run(const T* x, std::int64_t rows, std::int64_t n, compute_t<T>* to) {
    std::int64_t r = 0;
    for (; r + 8 <= rows; r += 8) turn_rows(x + r * n, n, to + r, rows_turned);
    for (; r < rows; ++r)
      for (std::int64_t k = 0; k < n; ++k) to[k * rows_turned + r] = static_cast<compute_t<T>>(x[r * n + k]);
  }
};

/// Calls `some(columns, first, count)` for short rows that have become columns.
template <class T, class Some>
void over_turned_rows(const T* x, std::int64_t rows, std::int64_t n, const Some& some) {
  compute_t<T> columns[rows_turned * longest_turned];
  for (std::int64_t r = 0; r < rows; r += rows_turned) {
    const std::int64_t count = rows - r < rows_turned ? rows - r : rows_turned;
    dispatch<turned_rows<T>>(x + r * n, count, n, columns + 0);
    some(static_cast<const compute_t<T>*>(columns), r, count);
  }
}

}  // namespace tagma::device::cpu
