// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of integer_gemm.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/cpu/integer_gemm.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Packs bytes as pairs: two terms of a sum, of 16 bits each, in a word of 32. What is behind the last term counts as
/// 0.
struct byte_pairs {
  using bytes = typename plain_vectors<std::uint8_t, 16>::type;
  using signed_bytes = typename plain_vectors<std::int8_t, 16>::type;
  using shorts = typename plain_vectors<std::int16_t, 32>::type;
  using four = typename plain_vectors<std::uint32_t, 16>::type;

  const std::byte* from;
  std::int64_t beside, next;  ///< from a line and from a term to the next
  std::int64_t lines, count;
  bool is_signed;

  TAGMA_INLINE std::uint32_t word(std::int64_t line, std::int64_t pair) const {
    const std::byte* const at = from + line * beside + 2 * pair * next;
    return half(*at) | (2 * pair + 1 < count ? half(at[next]) << 16 : 0u);
  }

  /// Line after line, where the terms of each lie side by side; `distance` words are between lines.
  TAGMA_INLINE void pack_lines(std::uint32_t* to, std::int64_t distance) const {
    for (std::int64_t i = 0; i < lines; ++i) {
      std::int64_t p = 0;
      for (; 2 * p + 16 <= count; p += 8) widen(to + i * distance + p, from + i * beside + 2 * p);
      for (; 2 * p < count; ++p) to[i * distance + p] = word(i, p);
    }
  }

  /// The lines side by side, `width` of them: what is behind the last one is 0.
  TAGMA_INLINE void pack_across(std::uint32_t* to, std::int64_t width) const {
    const std::int64_t pairs = (count + 1) / 2;
    std::int64_t first = 0;
    if (beside == 1 && lines >= 16) {
      for (std::int64_t p = 0; p < count / 2; ++p)
        for (std::int64_t i = 0; i < lines; i += 16) {
          const std::int64_t at = i + 16 <= lines ? i : lines - 16;  // some again
          interleave(to + p * width + at, from + 2 * p * next + at);
        }
      first = count / 2;
      for (std::int64_t p = 0; p < first && lines < width; ++p)
        for (std::int64_t i = lines; i < width; ++i) to[p * width + i] = 0;
    }
    std::int64_t line = 0;
    if (next == 1) {
      for (; line + 4 <= lines; line += 4) {
        std::int64_t p = 0;
        for (; 2 * p + 16 <= count; p += 8) turn(to + p * width + line, width, from + line * beside + 2 * p);
        for (; p < pairs; ++p)
          for (std::int64_t i = line; i < line + 4; ++i) to[p * width + i] = word(i, p);
      }
    }
    for (std::int64_t p = first; p < pairs; ++p)
      for (std::int64_t i = line; i < width; ++i) to[p * width + i] = i < lines ? word(i, p) : 0;
  }

 private:
  TAGMA_INLINE std::uint32_t half(std::byte b) const {
    const auto x = std::to_integer<std::uint32_t>(b);
    return is_signed && x > 127 ? x | 0xff00u : x;
  }
  /// Sixteen terms of one line.
  TAGMA_INLINE void widen(std::uint32_t* to, const std::byte* at) const {
    const bytes b = *reinterpret_cast<const bytes*>(at);  // clang 14 takes what a reference names to be aligned
    put(to, b);
  }
  /// Two terms of sixteen lines.
  TAGMA_INLINE void interleave(std::uint32_t* to, const std::byte* at) const {
    const bytes x = *reinterpret_cast<const bytes*>(at), y = *reinterpret_cast<const bytes*>(at + next);
    put(to, __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    put(to + 8, __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  }
  /// Sixteen terms of four lines.
  TAGMA_INLINE void turn(std::uint32_t* to, std::int64_t width, const std::byte* at) const {
    alignas(32) std::uint32_t wide[32];
    for (std::int64_t i = 0; i < 4; ++i) widen(wide + 8 * i, at + i * beside);
    for (std::int64_t p = 0; p < 8; p += 4) {
      const four a = *reinterpret_cast<const four*>(wide + p), b = *reinterpret_cast<const four*>(wide + 8 + p);
      const four c = *reinterpret_cast<const four*>(wide + 16 + p), d = *reinterpret_cast<const four*>(wide + 24 + p);
      const four e = __builtin_shufflevector(a, b, 0, 4, 1, 5), f = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      const four g = __builtin_shufflevector(a, b, 2, 6, 3, 7), h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      *reinterpret_cast<four*>(to + p * width) = __builtin_shufflevector(e, f, 0, 1, 4, 5);
      *reinterpret_cast<four*>(to + (p + 1) * width) = __builtin_shufflevector(e, f, 2, 3, 6, 7);
      *reinterpret_cast<four*>(to + (p + 2) * width) = __builtin_shufflevector(g, h, 0, 1, 4, 5);
      *reinterpret_cast<four*>(to + (p + 3) * width) = __builtin_shufflevector(g, h, 2, 3, 6, 7);
    }
  }
  TAGMA_INLINE void put(std::uint32_t* to, const bytes& b) const {
    shorts wide;
#if TAGMA_HAS_PAIRS
    if (is_signed)
      TAGMA_SHORT_OF_SIGNED(wide, b);
    else
      TAGMA_SHORT_OF_UNSIGNED(wide, b);
#else
    wide = is_signed ? __builtin_convertvector(signed_bytes(b), shorts) : __builtin_convertvector(b, shorts);
#endif
    *reinterpret_cast<shorts*>(to) = wide;
  }
};

/// Tiles of four rows and up to three vectors of columns, over pairs of terms that are packed as words.
/// @tparam Joined one instruction multiplies and adds
template <std::size_t Bytes, bool Joined>
struct integer_gemm_of {
  using vector = typename plain_vectors<std::uint32_t, Bytes>::type;
  static constexpr std::int64_t lanes = plain_vectors<std::uint32_t, Bytes>::lanes;
  /// Pairs and rows that are packed at once. What is packed lies on the stack: 64 KiB and up to 24.
  static constexpr std::int64_t depth = 128, high = 128;

  TAGMA_INLINE static void add(vector& sums, const vector& a, const vector& b) {
#if TAGMA_HAS_PAIRS
    if constexpr (Joined) {
      TAGMA_ADD_PRODUCTS_OF_PAIRS(sums, a, b);
    } else {
      vector products;
      TAGMA_PRODUCTS_OF_PAIRS(products, a, b);
      sums += products;
    }
#else
    using numbers = typename plain_vectors<std::int32_t, Bytes>::type;
    sums += vector((numbers(a << 16) >> 16) * (numbers(b << 16) >> 16) + (numbers(a) >> 16) * (numbers(b) >> 16));
#endif
  }

  /// The sums of one row.
  template <int Vectors>
  struct row {
    vector x{}, y{}, z{};
    TAGMA_INLINE void add(std::uint32_t a, const vector* b) {
      const vector f = a - vector{};
      integer_gemm_of::add(x, f, b[0]);
      if constexpr (Vectors > 1) integer_gemm_of::add(y, f, b[1]);
      if constexpr (Vectors > 2) integer_gemm_of::add(z, f, b[2]);
    }
    /// Adds the sums to what is in `c`, or puts them there.
    TAGMA_INLINE void put(std::uint32_t* c, bool first) const {
      auto* const v = reinterpret_cast<vector*>(c);
      v[0] = first ? x : v[0] + x;
      if constexpr (Vectors > 1) v[1] = first ? y : v[1] + y;
      if constexpr (Vectors > 2) v[2] = first ? z : v[2] + z;
    }
  };

  /// Packed rows of the first matrix; in words.
  struct panel {
    const std::uint32_t* first;
    std::int64_t beside, next;  ///< from a row and from a pair to the next
    std::int64_t rows, pairs;
    bool is_first;  ///< these are the first terms
  };

  /// A tile of four rows of sums, or of one.
  template <int Rows, int Vectors>
  TAGMA_INLINE static void tile(const panel& p, const std::uint32_t* a, const std::uint32_t* b, bool first,
                                std::uint32_t* c, std::int64_t ldc) {
    row<Vectors> s, t, u, v;
    for (std::int64_t i = 0; i < p.pairs; ++i, a += p.next, b += Vectors * lanes) {
      const auto* const terms = reinterpret_cast<const vector*>(b);
      s.add(a[0], terms);
      if constexpr (Rows > 1) t.add(a[p.beside], terms), u.add(a[2 * p.beside], terms), v.add(a[3 * p.beside], terms);
    }
    s.put(c, first);
    if constexpr (Rows > 1) t.put(c + ldc, first), u.put(c + 2 * ldc, first), v.put(c + 3 * ldc, first);
  }

  /// Where panels of the second matrix are packed, and tiles that are not whole.
  struct buffers {
    alignas(64) std::uint32_t packed[std::size_t{3 * lanes * depth}];
    alignas(64) std::uint32_t part[std::size_t{12 * lanes}];
  };

  /// Up to `Vectors * lanes` columns of the result from `c` on.
  template <int Vectors>
  TAGMA_INLINE static void columns(const panel& p, buffers& own, const byte_pairs& b, std::uint32_t* c,
                                   std::int64_t ldc) {
    constexpr std::int64_t across = Vectors * lanes;
    b.pack_across(own.packed, across);
    for (std::int64_t i = 0, rows = 0; i < p.rows; i += rows, c += rows * ldc) {
      rows = p.rows - i < 4 ? p.rows - i : 4;
      const bool one = rows == 1, whole = b.lines == across && (one || rows == 4);
      std::uint32_t* const to = whole ? c : own.part;
      const std::int64_t distance = whole ? ldc : across;
      if (one)
        tile<1, Vectors>(p, p.first + i * p.beside, own.packed, p.is_first || !whole, to, distance);
      else
        tile<4, Vectors>(p, p.first + i * p.beside, own.packed, p.is_first || !whole, to, distance);
      if (whole) continue;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t q = 0; q < b.lines; ++q)
          c[r * ldc + q] = p.is_first ? to[r * across + q] : c[r * ldc + q] + to[r * across + q];
    }
  }

  TAGMA_INLINE static void run(const integer_gemm_args* g) {
    alignas(64) std::uint32_t packed[std::size_t{high * depth}];
    buffers own;
    byte_pairs a{nullptr, g->transpose_a ? 1 : g->lda, g->transpose_a ? g->lda : 1, 0, 0, g->signed_a};
    byte_pairs b{nullptr, g->transpose_b ? g->ldb : 1, g->transpose_b ? 1 : g->ldb, 0, 0, g->signed_b};
    for (std::int64_t row = 0; row < g->m; row += high)
      for (std::int64_t first = 0; first < g->k; first += 2 * depth) {
        a.count = b.count = g->k - first < 2 * depth ? g->k - first : 2 * depth;
        a.lines = g->m - row < high ? g->m - row : high;
        a.from = g->a + row * a.beside + first * a.next;
        const std::int64_t pairs = (a.count + 1) / 2, padded = (a.lines + 3) / 4 * 4;
        panel p{packed, 1, padded, a.lines, pairs, first == 0};
        if (g->transpose_a) {
          a.pack_across(packed, padded);
        } else {
          p.beside = pairs, p.next = 1;
          a.pack_lines(packed, pairs);
          std::memset(packed + a.lines * pairs, 0,
                      static_cast<std::size_t>((padded - a.lines) * pairs) * sizeof *packed);
        }
        auto* const c = reinterpret_cast<std::uint32_t*>(g->c) + row * g->ldc;
        for (std::int64_t j = 0; j < g->n; j += 3 * lanes) {
          b.lines = g->n - j < 3 * lanes ? g->n - j : 3 * lanes;
          b.from = g->b + first * b.next + j * b.beside;
          if (b.lines > 2 * lanes)
            columns<3>(p, own, b, c + j, g->ldc);
          else if (b.lines > lanes)
            columns<2>(p, own, b, c + j, g->ldc);
          else
            columns<1>(p, own, b, c + j, g->ldc);
        }
      }
  }
};

template <bool Joined>
using integer_gemm_loops = with_wide<integer_gemm_of<plain_bytes, false>, integer_gemm_of<wide_plain_bytes, Joined>>;

}  // namespace detail

TAGMA_DECL bool adds_products_at_once() {
#if TAGMA_HAS_PAIRS
  static const bool has = __builtin_cpu_supports("avx512vnni");
  return has;
#else
  return false;
#endif
}

TAGMA_DECL void integer_gemm(const integer_gemm_args& g, bool at_once) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    for (std::int64_t i = 0; i < g.m; ++i)
      std::memset(g.c + i * g.ldc, 0, static_cast<std::size_t>(g.n) * sizeof(std::int32_t));
    return;
  }
  if (g.n == 1 && g.m > 1 && g.ldc == 1) {  // the same in memory as one row, which is quicker
    const integer_gemm_args row{
        !g.transpose_b, !g.transpose_a, g.signed_b, g.signed_a, 1, g.m, g.k, g.b, g.ldb, g.a, g.lda, g.c, g.m};
    return integer_gemm(row, at_once);
  }
#if TAGMA_HAS_PAIRS
  if (at_once) return dispatch<detail::integer_gemm_loops<true>>(&g);
#endif
  static_cast<void>(at_once);
  dispatch<detail::integer_gemm_loops<false>>(&g);
}

}  // namespace tagma::device::cpu
