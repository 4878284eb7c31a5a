// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the largest or smallest elements are.

#include <cstdint>
#include <cstring>

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

/// Positions of the extremes of rows of `n` neighbouring floats. First the extreme is looked for, in all lanes at once,
/// then the first lane that it is in: without a branch for each element.
template <bool Largest>
struct extremes_of_rows {
  using eight [[gnu::vector_size(32)]] = float;
  using bits_of_eight = decltype(eight{} < eight{});

  TAGMA_INLINE static void run(const float* from, std::int64_t rows, std::int64_t n, std::int64_t* to) {
    for (std::int64_t r = 0; r < rows; ++r, from += n) {
      unsigned found = 0;
      std::int64_t k = 0;
      if (n >= 8) {
        eight x, last, extreme;
        std::memcpy(&last, from + n - 8, sizeof last);
        extreme = last;
        bits_of_eight none = last != last;
        for (; k + 8 <= n; k += 8) {
          std::memcpy(&x, from + k, sizeof x);
          none |= x != x;
          move(extreme, x);
        }
        x = __builtin_shufflevector(extreme, extreme, 4, 5, 6, 7, 0, 1, 2, 3);
        move(extreme, x);
        x = __builtin_shufflevector(extreme, extreme, 2, 3, 0, 1, 6, 7, 4, 5);
        move(extreme, x);
        x = __builtin_shufflevector(extreme, extreme, 1, 0, 3, 2, 5, 4, 7, 6);
        move(extreme, x);
        if (highest_bits(none) == 0) {
          std::memcpy(&x, from, sizeof x);
          k = 0, found = reaches(x, extreme);
          if (n < 16) found |= reaches(last, extreme) << (n - 8);
          for (; k + 16 <= n && found == 0; found = reaches(x, extreme)) std::memcpy(&x, from + (k += 8), sizeof x);
          if (found == 0) k = n - 8, found = reaches(last, extreme);
        }
      }
      if (found != 0)
        to[r] = k + __builtin_ctz(found);
      else  // few elements, or a NaN
        extreme_one_by_one<float, Largest>(from, n, 1, to + r);
    }
  }

 private:
  /// Takes what is more extreme, lane by lane; not a NaN.
  TAGMA_INLINE static void move(eight& extreme, const eight& x) {
    extreme = (Largest ? x > extreme : x < extreme) ? x : extreme;
  }
  /// Which of eight elements are no less extreme than `extreme`, a bit for each.
  TAGMA_INLINE static unsigned reaches(const eight& x, const eight& extreme) {
    return highest_bits(Largest ? x >= extreme : x <= extreme);
  }
  TAGMA_INLINE static unsigned highest_bits(const bits_of_eight& words) {
#if TAGMA_HAS_VECTOR_TEXT
    unsigned bits;
    TAGMA_HIGHEST_BITS(bits, words);
    return bits;
#else
    const bits_of_eight own = words & bits_of_eight{1, 2, 4, 8, 16, 32, 64, 128};
    std::uint64_t pairs[4];
    std::memcpy(pairs, &own, sizeof pairs);
    const std::uint64_t joined = pairs[0] | pairs[1] | pairs[2] | pairs[3];
    return static_cast<unsigned>(joined | joined >> 32);
#endif
  }
};

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
