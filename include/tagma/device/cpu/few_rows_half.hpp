// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of 16-bit floats of which one side is short, as few_rows.hpp has them of floats: the long matrix is read
/// once, where it lies, and widened in registers. Sums are floats, rounded once. Each is formed in the order of the
/// inner axis, or over sixteen lanes where that axis is the last of both matrices, so that its bytes depend neither on
/// how the result is shared nor on the length of a vector. Templates only.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/cpu/gemm_args.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu::detail {

/// True if `few_rows_of_halves` is for this product.
template <class S>
[[nodiscard]] bool has_few_rows_of_halves(const gemm_args<S>& g) {
  if (g.n < least_columns || g.m == 0 || g.k == 0 || (g.transpose_a && g.transpose_b)) return false;
  return g.m <= few_rows || (g.k <= few_rows && !g.transpose_b);
}

/// Sixteen floats in the vectors of a loop.
template <int Lanes>
struct sixteen_floats {
  using part = pack<float, Lanes>;
  part low{}, high{};

  template <class S>
  TAGMA_INLINE void read(const S* from) {
    low = load<Lanes>(from);
    if constexpr (Lanes < 16) high = load<Lanes>(from + Lanes);
  }
  TAGMA_INLINE void add(const sixteen_floats& a, const sixteen_floats& b) {
    low = mul_add(a.low, b.low, low);
    if constexpr (Lanes < 16) high = mul_add(a.high, b.high, high);
  }
  [[nodiscard]] TAGMA_INLINE float total() const {
    if constexpr (Lanes < 16)
      return reduce_add(low + high);
    else
      return reduce_add(low);
  }
};

/// The body of `few_rows_of_halves`.
template <class S, int Lanes>
struct few_rows_of_halves_body {
  using P = pack<float, Lanes>;
  using part = sixteen_floats<Lanes>;
  /// Columns whose sums are kept at once, and terms that are added to them before the next columns are looked at.
  static constexpr std::int64_t widest = 1024, deep = 8;
  static constexpr std::int64_t lanes = Lanes;

  /// Elements of the first matrix, as floats.
  TAGMA_INLINE static void read_factors(const S* from, std::int64_t next, std::int64_t count, float* to) {
    S some[std::size_t{deep}]{};
    for (std::int64_t i = 0; i < count; ++i) some[i] = from[i * next];
    store(to, load<8>(static_cast<const S*>(some)));
  }

  /// Where vector `v` of some columns begins: the last one overlaps the one before.
  TAGMA_INLINE static std::int64_t place(std::int64_t v, std::int64_t columns) {
    return v * lanes <= columns - lanes ? v * lanes : columns - lanes;
  }

  /// Terms of the sums of one row.
  struct terms {
    const S* b;
    std::int64_t ldb, count;
  };
  TAGMA_INLINE static void add_four_vectors(const float* factors, const terms& of, float* sums) {
    P s = load<Lanes>(static_cast<const float*>(sums)), t = load<Lanes>(static_cast<const float*>(sums) + lanes);
    P u = load<Lanes>(static_cast<const float*>(sums) + 2 * lanes);
    P v = load<Lanes>(static_cast<const float*>(sums) + 3 * lanes);
    const S* b = of.b;
    for (std::int64_t p = 0; p < of.count; ++p, b += of.ldb) {
      const P f = splat<P>(factors[p]);
      s = mul_add(f, load<Lanes>(b), s), t = mul_add(f, load<Lanes>(b + lanes), t);
      u = mul_add(f, load<Lanes>(b + 2 * lanes), u), v = mul_add(f, load<Lanes>(b + 3 * lanes), v);
    }
    store(sums, s), store(sums + lanes, t), store(sums + 2 * lanes, u), store(sums + 3 * lanes, v);
  }
  TAGMA_INLINE static void add_vector(const float* factors, const terms& of, float* sums) {
    P s = load<Lanes>(static_cast<const float*>(sums));
    for (std::int64_t p = 0; p < of.count; ++p) {
      const P f = splat<P>(factors[p]);
      s = mul_add(f, load<Lanes>(of.b + p * of.ldb), s);
    }
    store(sums, s);
  }
  /// One vector of each of four rows: what is read is widened once.
  TAGMA_INLINE static void add_four_rows(const float* factors, const terms& of, float* sums) {
    P s = load<Lanes>(static_cast<const float*>(sums)), t = load<Lanes>(static_cast<const float*>(sums) + widest);
    P u = load<Lanes>(static_cast<const float*>(sums) + 2 * widest);
    P v = load<Lanes>(static_cast<const float*>(sums) + 3 * widest);
    for (std::int64_t p = 0; p < of.count; ++p) {
      const P x = load<Lanes>(of.b + p * of.ldb);
      const P f = splat<P>(factors[p]), g = splat<P>(factors[p + deep]);
      const P h = splat<P>(factors[p + 2 * deep]), i = splat<P>(factors[p + 3 * deep]);
      s = mul_add(f, x, s), t = mul_add(g, x, t), u = mul_add(h, x, u), v = mul_add(i, x, v);
    }
    store(sums, s), store(sums + widest, t), store(sums + 2 * widest, u), store(sums + 3 * widest, v);
  }

  /// Few rows by a matrix of which rows are terms.
  TAGMA_INLINE static void run_by_terms(const gemm_args<S>& g) {
    alignas(64) float sums[std::size_t{4 * widest}], factors[std::size_t{4 * deep}];
    const std::int64_t row = g.transpose_a ? 1 : g.lda, next = g.transpose_a ? g.lda : 1;
    for (std::int64_t left = 0, columns = 0; left < g.n; left += columns) {
      columns = g.n - left;
      if (columns > widest) columns = columns < widest + least_columns ? widest - least_columns : widest;
      const std::int64_t vectors = (columns + lanes - 1) / lanes, whole = columns / (4 * lanes) * 4;
      for (std::int64_t i = 0; i < 4 * widest; i += lanes) store(sums + i, splat<P>(0));
      for (std::int64_t i = 0; i < g.k; i += deep) {
        const std::int64_t count = g.k - i < deep ? g.k - i : deep;
        for (std::int64_t r = 0; r < 4; ++r)
          read_factors(g.a + (r < g.m ? r : g.m - 1) * row + i * next, next, count, factors + r * deep);
        const S* const b = g.b + i * g.ldb + left;
        std::int64_t v = 0;
        if (g.m == 1)
          for (; v < whole; v += 4) add_four_vectors(factors, {b + v * lanes, g.ldb, count}, sums + v * lanes);
        for (; v < vectors; ++v) {
          const terms of{b + place(v, columns), g.ldb, count};
          if (g.m == 1)
            add_vector(factors, of, sums + v * lanes);
          else
            add_four_rows(factors, of, sums + v * lanes);
        }
      }
      for (std::int64_t r = 0; r < g.m; ++r)
        for (std::int64_t v = 0; v < vectors; ++v)
          store(g.c + r * g.ldc + left + place(v, columns),
                load<Lanes>(static_cast<const float*>(sums) + r * widest + v * lanes));
    }
  }

  /// Many rows of few terms.
  TAGMA_INLINE static void run_few_terms(const gemm_args<S>& g) {
    float factors[std::size_t{deep}];
    const std::int64_t row = g.transpose_a ? 1 : g.lda, next = g.transpose_a ? g.lda : 1;
    for (std::int64_t r = 0; r < g.m; ++r) {
      read_factors(g.a + r * row, next, g.k, factors);
      for (std::int64_t j = 0; j < g.n; j += lanes) {
        if (j > g.n - lanes) j = g.n - lanes;
        P s = splat<P>(0);
        for (std::int64_t p = 0; p < g.k; ++p) {
          const P f = splat<P>(factors[p]);
          s = mul_add(f, load<Lanes>(g.b + p * g.ldb + j), s);
        }
        store(g.c + r * g.ldc + j, s);
      }
    }
  }

  /// Sums of up to four rows of the first matrix by one of the second.
  template <bool Four>
  struct four_sums {
    part a, b, c, d;
    TAGMA_INLINE void add(const four_sums& x, const part& y) {
      a.add(x.a, y);
      if constexpr (Four) b.add(x.b, y), c.add(x.c, y), d.add(x.d, y);
    }
    TAGMA_INLINE void read(const S* const* from, std::int64_t i) {
      a.read(from[0] + i);
      if constexpr (Four) b.read(from[1] + i), c.read(from[2] + i), d.read(from[3] + i);
    }
    TAGMA_INLINE void put(float* to) const {
      to[0] = a.total();
      if constexpr (Four)
        to[least_columns] = b.total(), to[2 * least_columns] = c.total(), to[3 * least_columns] = d.total();
    }
  };
  /// How many rows of the second matrix are read at once: as many as there are registers for.
  template <bool Four>
  static constexpr int at_once = Four&& Lanes < 16 ? 1 : 4;

  /// What remains of the last sixteen terms comes from copies, with zeros behind it.
  template <bool Four>
  TAGMA_INLINE static void add_rows(const S* const* a, const S* b, std::int64_t ldb, std::int64_t n, float* to) {
    constexpr int columns = at_once<Four>;
    S padded[4 + std::size_t{columns}][16];
    const S *left[4] = {a[0], a[1], a[2], a[3]}, *right[4] = {b, b + ldb, b + 2 * ldb, b + 3 * ldb};
    four_sums<Four> s, t, u, v;
    const std::int64_t rest = n % 16;
    for (std::int64_t count = n - rest;;) {
      for (std::int64_t i = 0; i < count; i += 16) {
        four_sums<Four> x;
        x.read(left, i);
        part y;
        y.read(right[0] + i), s.add(x, y);
        if constexpr (columns > 1) {
          y.read(right[1] + i), t.add(x, y);
          y.read(right[2] + i), u.add(x, y);
          y.read(right[3] + i), v.add(x, y);
        }
      }
      if (rest == 0 || left[0] == padded[0]) break;
      for (std::size_t r = 0; r < (Four ? 4 : 1); ++r) {
        copy_padded<16, sizeof(S)>(padded[r], left[r] + count, rest);
        left[r] = padded[r];
      }
      for (std::size_t r = 0; r < std::size_t{columns}; ++r) {
        copy_padded<16, sizeof(S)>(padded[4 + r], right[r] + count, rest);
        right[r] = padded[4 + r];
      }
      count = 16;
    }
    s.put(to);
    if constexpr (columns > 1) t.put(to + 1), u.put(to + 2), v.put(to + 3);
  }

  /// Few rows by a matrix of which rows are columns.
  template <bool Four>
  TAGMA_INLINE static void run_by_rows(const gemm_args<S>& g) {
    constexpr std::int64_t columns = at_once<Four>;
    alignas(64) float sums[std::size_t{4 * least_columns}];
    const std::int64_t last = g.m - 1;
    const S* const a[4] = {g.a, g.a + (last > 1 ? 1 : last) * g.lda, g.a + (last > 2 ? 2 : last) * g.lda,
                           g.a + last * g.lda};
    for (std::int64_t left = 0; left < g.n; left += least_columns) {
      if (left > g.n - least_columns) left = g.n - least_columns;  // some again, which come out the same
      for (std::int64_t j = 0; j < least_columns; j += columns)
        add_rows<Four>(a, g.b + (left + j) * g.ldb, g.ldb, g.k, sums + j);
      for (std::int64_t r = 0; r < g.m; ++r)
        for (std::int64_t j = 0; j < least_columns; j += lanes)
          store(g.c + r * g.ldc + left + j, load<Lanes>(static_cast<const float*>(sums) + r * least_columns + j));
    }
  }

  TAGMA_INLINE static void run(const gemm_args<S>* g) {
    if (g->transpose_b && g->m == 1)
      run_by_rows<false>(*g);
    else if (g->transpose_b)
      run_by_rows<true>(*g);
    else if (g->m > few_rows)
      run_few_terms(*g);
    else
      run_by_terms(*g);
  }
};

/// A product, or some columns of one, for which `has_few_rows_of_halves` is true.
template <class S>
using few_rows_of_halves = with_wide<few_rows_of_halves_body<S, 8>, few_rows_of_halves_body<S, 16>>;

}  // namespace tagma::device::cpu::detail
