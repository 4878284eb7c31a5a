// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Winograd's minimal filtering F(4x4, 3x3), as Lavin and Gray use it (Fast Algorithms for Convolutional Neural
/// Networks, CVPR 2016): four by four results of a channel see six by six elements, and take 36 multiplications in
/// place of 144. Here are the linear maps around these, for many channels at once; the products themselves are those of
/// matrices. The points are 0, +-5/8, +-3/2 and infinity, whose errors are half of those of 0, +-1, +-2 and infinity.

#include <cstdint>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu {

/// The points, and what follows from them.
struct winograd {
  static constexpr std::int64_t tile = 4;  ///< results along an axis
  static constexpr std::int64_t terms = 36;
  static constexpr float p = 0.625f, q = 1.5f, pp = p * p, qq = q * q, ppp = pp * p, qqq = qq * q;
  static constexpr float sum = pp + qq, product = pp * qq;
  // The products of the differences of a point from the others.
  static constexpr float of_zero = 1 / product, of_p = 1 / (2 * pp * (pp - qq)), of_q = 1 / (2 * qq * (qq - pp));

  /// Of elements of an image.
  struct of_image {
    static constexpr int in = 6, out = 6;
    template <class P>
    TAGMA_INLINE static void apply(P* to, int step, const P& d0, const P& d1, const P& d2, const P& d3, const P& d4,
                                   const P& d5) {
      to[0] = mul_add(d0, splat<P>(product), mul_add(d2, splat<P>(-sum), d4));
      pair(to + step, step, mul_add(d2, splat<P>(-qq), d4), mul_add(d1, splat<P>(-qq), d3), p);
      pair(to + 3 * step, step, mul_add(d2, splat<P>(-pp), d4), mul_add(d1, splat<P>(-pp), d3), q);
      to[5 * step] = mul_add(d1, splat<P>(product), mul_add(d3, splat<P>(-sum), d5));
    }
  };
  /// Of elements of a filter.
  struct of_filter {
    static constexpr int in = 3, out = 6;
    template <class P>
    TAGMA_INLINE static void apply(P* to, int step, const P& g0, const P& g1, const P& g2) {
      to[0] = g0 * of_zero;
      const P u = mul_add(g2, splat<P>(pp), g0), v = mul_add(g2, splat<P>(qq), g0);
      to[step] = mul_add(g1, splat<P>(p), u) * of_p;
      to[2 * step] = mul_add(g1, splat<P>(-p), u) * of_p;
      to[3 * step] = mul_add(g1, splat<P>(q), v) * of_q;
      to[4 * step] = mul_add(g1, splat<P>(-q), v) * of_q;
      to[5 * step] = g2;
    }
  };
  /// Results from products.
  struct to_results {
    static constexpr int in = 6, out = 4;
    template <class P>
    TAGMA_INLINE static void apply(P* to, int step, const P& m0, const P& m1, const P& m2, const P& m3, const P& m4,
                                   const P& m5) {
      const P s = m1 + m2, d = m1 - m2, t = m3 + m4, e = m3 - m4;
      to[0] = m0 + s + t;
      to[step] = mul_add(e, splat<P>(q), separate(d * p));
      to[2 * step] = mul_add(t, splat<P>(qq), separate(s * pp));
      to[3 * step] = mul_add(e, splat<P>(qqq), mul_add(d, splat<P>(ppp), m5));
    }
  };
  /// Of gradients by results: the reverse of `to_results`.
  struct of_results {
    static constexpr int in = 4, out = 6;
    template <class P>
    TAGMA_INLINE static void apply(P* to, int step, const P& y0, const P& y1, const P& y2, const P& y3) {
      to[0] = y0;
      pair(to + step, step, mul_add(y2, splat<P>(pp), y0), mul_add(y3, splat<P>(pp), y1), p);
      pair(to + 3 * step, step, mul_add(y2, splat<P>(qq), y0), mul_add(y3, splat<P>(qq), y1), q);
      to[5 * step] = y3;
    }
  };
  /// Gradients by a filter from products: the reverse of `of_filter`.
  struct to_filter {
    static constexpr int in = 6, out = 3;
    template <class P>
    TAGMA_INLINE static void apply(P* to, int step, const P& m0, const P& m1, const P& m2, const P& m3, const P& m4,
                                   const P& m5) {
      const P s = (m1 + m2) * of_p, t = (m3 + m4) * of_q, d = (m1 - m2) * of_p, e = (m3 - m4) * of_q;
      to[0] = separate(m0 * of_zero) + separate(s) + separate(t);
      to[step] = mul_add(e, splat<P>(q), separate(d * p));
      to[2 * step] = mul_add(t, splat<P>(qq), mul_add(s, splat<P>(pp), m5));
    }
  };

  /// A map along both axes of a tile, of `n` channels, at least W. What is less than a pack is done with some before
  /// it.
  /// @tparam Map one of the above
  template <class Map, int W>
  struct both_axes {
    using P = pack<float, W>;
    using row = std::make_index_sequence<Map::in>;
    /// @param from   where the elements of the tile are, row by row
    /// @param to     where those of the result go
    /// @param behind nothing, or what follows a convolution: the bias of each channel, and sixteen times the lower and
    ///               sixteen times the upper bound of results; NaN stays
    template <class... Behind>
    TAGMA_INLINE static void run(const float* const* from, float* const* to, std::int64_t n, Behind... behind) {
      for (std::int64_t c = 0; c < n; c += W) {
        if (c + W > n) c = n - W;
        alignas(sizeof(float) * W) P half[Map::in * Map::out];
        for (int j = 0; j < Map::in; ++j) of_memory(half + j, from + j, c, row());
        for (int i = 0; i < Map::out; ++i) {
          alignas(sizeof(float) * W) P results[Map::out];
          of_half(results, half + i * Map::in, row());
          for (int j = 0; j < Map::out; ++j) put(to[i * Map::out + j] + c, results[j], c, behind...);
        }
      }
    }

   private:
    TAGMA_INLINE static void put(float* to, const P& result, std::int64_t) { store(to, result); }
    TAGMA_INLINE static void put(float* to, const P& result, std::int64_t c, const float* bias, const float* bounds) {
      store(to, smaller(load<W>(bounds + 16), larger(load<W>(bounds), result + load<W>(bias + c))));
    }
    template <std::size_t... I>
    TAGMA_INLINE static void of_memory(P* to, const float* const* from, std::int64_t c, std::index_sequence<I...>) {
      Map::apply(to, Map::in, load<W>(from[I * Map::in] + c)...);
    }
    template <std::size_t... I>
    TAGMA_INLINE static void of_half(P* to, const P* from, std::index_sequence<I...>) {
      Map::apply(to, 1, from[I]...);
    }
  };
  template <class Map>
  using map = with_wide<both_axes<Map, default_width>, both_axes<Map, wide_width>>;

 private:
  /// At a point and its opposite.
  template <class P>
  TAGMA_INLINE static void pair(P* to, int step, const P& even, const P& odd, float point) {
    to[0] = mul_add(odd, splat<P>(point), even);
    to[step] = mul_add(odd, splat<P>(-point), even);
  }
};

}  // namespace tagma::device::cpu
