// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elementary functions of packs, without branches on the values of lanes, and of single numbers. Errors are stated in
/// units in the last place (ulp), as the tests measure them. Infinities, NaN and denormal results behave as in <cmath>
/// unless said otherwise. The formulas assume that the compiler keeps IEEE arithmetic: no -ffast-math.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/elementary.hpp"
#include "tagma/device/cpu/pack.hpp"
#include "tagma/device/cpu/trigonometry.hpp"

namespace tagma::device::cpu {

namespace detail {
#if TAGMA_HAS_VECTOR_TEXT
#define TAGMA_INTEGRAL(x, how)            \
  if constexpr (sizeof(x) == 64) {        \
    auto v = x.v;                         \
    TAGMA_INTEGRAL_64(v, v, how);         \
    return {v};                           \
  } else if constexpr (sizeof(x) == 32) { \
    auto v = x.v;                         \
    TAGMA_INTEGRAL_32(v, v, how);         \
    return {v};                           \
  }
#else
#define TAGMA_INTEGRAL(x, how)
#endif
template <class T, int W>
TAGMA_INLINE pack<T, W> round_part(const pack<T, W>& x) {
  TAGMA_INTEGRAL(x, "8")
  const auto a = magnitude(x);
  const auto r = (a + ieee<T>::integral) - ieee<T>::integral;
  return with_sign(select(a < ieee<T>::integral, r, a), x);
}
template <class T, int W>
TAGMA_INLINE pack<T, W> floor_part(const pack<T, W>& x) {
  TAGMA_INTEGRAL(x, "9")
  const auto r = round_part(x);
  return select(r > x, r - T{1}, r);
}
template <class T, int W>
TAGMA_INLINE pack<T, W> ceil_part(const pack<T, W>& x) {
  TAGMA_INTEGRAL(x, "10")
  return -floor_part(-x);
}
#undef TAGMA_INTEGRAL

#if TAGMA_HAS_VECTOR_TEXT
// c - a b, rounded once: where compilers do not optimise, or are told to, `mul_add` rounds twice.
template <class T, int W>
TAGMA_INLINE pack<T, W> less_product(const pack<T, W>& c, const pack<T, W>& a, const pack<T, W>& b) {
  auto v = c.v;
  TAGMA_LESS_PRODUCT_64(v, a.v, b.v);
  return {v};
}
// By steps from the estimate of the instruction, on units that are free while one divides. What they come to is off by
// less than 1.5 ulp, and is the nearest number to the root if x is between its products with its two neighbours. For
// numbers that are so large that no difference is denormal.
template <class T, int W>
TAGMA_INLINE pack<T, W> root_by_steps(const pack<T, W>& x) {
  using P = pack<T, W>;
  P y;
  TAGMA_INVERSE_ROOT_64(y.v, x.v);
  P g = x * y, h = y * T(0.5);
  if constexpr (same<T, double>) {
    const P r = less_product(splat<P>(T(0.5)), g, h);
    g = mul_add(g, r, g);
    h = mul_add(h, r, h);
  }
  g = mul_add(less_product(x, g, g), h, g);
  const P above = reinterpret<T>(reinterpret<signed_of<T>>(g) + signed_of<T>{1});
  const P below = reinterpret<T>(reinterpret<signed_of<T>>(g) - signed_of<T>{1});
  const P root = select(less_product(x, g, above) > T{0}, above, g);
  return select(less_product(x, g, below) > T{0}, root, below);
}
#endif

template <class T, int W>
TAGMA_INLINE pack<T, W> sqrt_part(const pack<T, W>& x) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof(x) >= 32) {
    if constexpr (sizeof(x) == 64)
      if (!any_special<(same<T, float> ? 60 : 120)>(x)) [[likely]]
        return root_by_steps(x);
    pack<T, W> r;
    TAGMA_ROOT(r.v, x.v);
    return r;
  }
#endif
#if __has_builtin(__builtin_elementwise_sqrt)  // clang since 17
  return {__builtin_elementwise_sqrt(x.v)};
#else
#if __has_builtin(__builtin_ia32_sqrtps)  // documented by g++ for x86, and in clang before 22
  if constexpr (static_cast<int>(sizeof(T)) * W > 16)
    return shuffle<W, 0>(sqrt_part(low_half(x)), sqrt_part(high_half(x)));
  else if constexpr (static_cast<int>(sizeof(T)) * W == 16 && same<T, float>)
    return {__builtin_ia32_sqrtps(x.v)};
  else if constexpr (static_cast<int>(sizeof(T)) * W == 16)
    return {__builtin_ia32_sqrtpd(x.v)};
#elif defined(__aarch64__)
  if constexpr (static_cast<int>(sizeof(T)) * W == 16) return roots(x);
#endif
  pack<T, W> r = x;
  for (int i = 0; i < lanes_of<W>; ++i) {
    if constexpr (same<T, float>)
      set_lane(r, i, __builtin_sqrtf(lane(x, i)));
    else
      set_lane(r, i, __builtin_sqrt(lane(x, i)));
  }
  return r;
#endif
}

// `y`, but of the C library for lanes of `x` beyond the limit: the bytes of a lane do not depend on its neighbours.
template <int Turns, class T, int W>
TAGMA_INLINE pack<T, W> with_far_lanes(const pack<T, W>& x, const pack<T, W>& magnitude, const pack<T, W>& y) {
  using S = signed_of<T>;
  if (!any_greater(reinterpret<S>(magnitude), splat<pack<S, W>>(__builtin_bit_cast(S, trig_limit<T>)))) [[likely]]
    return y;
  const auto from = x;  // what lanes are taken from is in memory: here alone
  auto to = y;
  for (int i = 0; i < lanes_of<W>; ++i) {
    const T at = lane(from, i);
    if (!(scalar_math::abs(at) > trig_limit<T>)) continue;
    if constexpr (same<T, float>)
      set_lane(to, i, Turns == 0 ? __builtin_sinf(at) : __builtin_cosf(at));
    else
      set_lane(to, i, Turns == 0 ? __builtin_sin(at) : __builtin_cos(at));
  }
  return to;
}
template <class T, int W>
TAGMA_INLINE pack<T, W> sin_part(const pack<T, W>& x) {
  using U = unsigned_of<T>;
  const auto a = magnitude(x);
  const auto sign = reinterpret<U>(x) & ieee<T>::sign;
  return with_far_lanes<0>(x, a, reinterpret<T>(reinterpret<U>(trig_part<0>(a)) ^ sign));
}
template <class T, int W>
TAGMA_INLINE pack<T, W> cos_part(const pack<T, W>& x) {
  const auto a = magnitude(x);
  return with_far_lanes<1>(x, a, trig_part<1>(a));
}

template <class T, int W>
TAGMA_INLINE pack<T, W> pow_part(const pack<T, W>& x, const pack<T, W>& y) {
  using P = pack<T, W>;
  using c = ieee<T>;
  const P a = magnitude(x), zero = splat<P>(T{0}), one = splat<P>(T{1}), inf = splat<P>(c::infinity);
  P r = pow_positive(a, y);
  if (!any(!((x > zero) & (x < inf) & (magnitude(y) < inf)))) [[likely]]
    return r;
  const P half = y * T(0.5);
  const auto integral = floor_part(y) == y;
  const auto odd = integral & (floor_part(half) != half) & (magnitude(y) < c::infinity);
  r = select(a == one, one, r);
  r = select(a == zero, select(y > zero, zero, inf), r);
  r = select(a == inf, select(y > zero, inf, zero), r);
  r = select((x < zero) & (a < inf) & !integral, splat<P>(c::nan), r);
  r = select(odd, with_sign(magnitude(r), x), r);
  r = select((x != x) | (y != y), splat<P>(c::nan), r);
  return select((y == zero) | (x == one), one, r);
}
}  // namespace detail

/// Defines `name` for packs, half by half where a pack is longer than a vector: fewer registers are live at a time.
#define TAGMA_PACK_FUNCTION(name)                     \
  template <class T, int W>                           \
    requires(detail::floating<T>)                     \
  TAGMA_INLINE pack<T, W> name(const pack<T, W>& x) { \
    if constexpr (detail::split<T, W>)                \
      return {name(x.lo), name(x.hi)};                \
    else                                              \
      return detail::name##_part(x);                  \
  }
/// The same, and `name` for single numbers.
#define TAGMA_PACK_AND_SCALAR_FUNCTION(name) \
  TAGMA_PACK_FUNCTION(name)                  \
  using scalar_math::name;

/// e^x; within 1 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(exp)
/// e^x of x up to 0, and 0 where that is no normal number, or hardly; within 1 ulp elsewhere, and a NaN of a NaN.
TAGMA_PACK_FUNCTION(exp_of_negative)
/// e^x - 1 without cancellation near 0; within 2 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(expm1)
/// The natural logarithm: -infinity at 0, NaN below; within 1 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(log)
/// ln(1 + x) without cancellation near 0; within 2 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(log1p)
/// The hyperbolic tangent; within 3 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(tanh)
/// The error function; within 2 ulp, of floats within 2.75 where there is no FMA.
TAGMA_PACK_AND_SCALAR_FUNCTION(erf)
/// The sine of radians; within 2 ulp. Elements beyond 16384 (floats) or 65536 in magnitude take a slower path.
TAGMA_PACK_AND_SCALAR_FUNCTION(sin)
/// The cosine of radians; see sin.
TAGMA_PACK_AND_SCALAR_FUNCTION(cos)
/// The square root, correctly rounded.
TAGMA_PACK_AND_SCALAR_FUNCTION(sqrt)
/// The greatest integer not above x.
TAGMA_PACK_AND_SCALAR_FUNCTION(floor)
/// The least integer not below x.
TAGMA_PACK_AND_SCALAR_FUNCTION(ceil)
/// The nearest integer, halves to even.
TAGMA_PACK_AND_SCALAR_FUNCTION(round)
/// 1 / (1 + e^-x); within 3 ulp, denormal results included.
TAGMA_PACK_AND_SCALAR_FUNCTION(sigmoid)
/// ln(1 + e^x); within 3 ulp.
TAGMA_PACK_AND_SCALAR_FUNCTION(softplus)
#undef TAGMA_PACK_AND_SCALAR_FUNCTION
#undef TAGMA_PACK_FUNCTION

/// x^y; negative x has a power where y is an integer, and NaN elsewhere. Floats within 1 ulp. Doubles within 4 ulp
/// where |y ln(x)| < 100, and within 40 ulp everywhere.
template <class T, int W>
  requires(detail::floating<T>)
TAGMA_INLINE pack<T, W> pow(const pack<T, W>& x, const pack<T, W>& y) {
  if constexpr (detail::split<T, W>)
    return {pow(x.lo, y.lo), pow(x.hi, y.hi)};
  else
    return detail::pow_part(x, y);
}
template <class T, int W>
  requires(detail::floating<T>)
TAGMA_INLINE pack<T, W> pow(const pack<T, W>& x, typename pack<T, W>::value_type y) {
  return pow(x, splat<pack<T, W>>(y));
}
using scalar_math::pow;

/// 1 / sqrt(x); within 2 ulp.
template <class P>
TAGMA_INLINE P rsqrt(const P& x) {
  return splat<P>(1) / sqrt(x);
}

/// The magnitude; of the most negative integer itself.
template <class T, int W>
TAGMA_INLINE pack<T, W> abs(const pack<T, W>& x) {
  if constexpr (detail::floating<T>)
    return detail::magnitude(x);
  else if constexpr (detail::is_signed<T>)
    return select(x < T{0}, -x, x);
  else
    return x;
}
using scalar_math::abs;

/// -1, 0 or 1; a zero and a NaN are themselves.
template <class T, int W>
TAGMA_INLINE pack<T, W> sign(const pack<T, W>& x) {
  using P = pack<T, W>;
  const P positive = select(x > T{0}, splat<P>(1), x);
  if constexpr (detail::is_signed<T>)
    return select(x < T{0}, splat<P>(-1), positive);
  else
    return positive;
}
using scalar_math::sign;

}  // namespace tagma::device::cpu
