// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The formulas behind math.hpp: sine, cosine and power of packs. Part of math.hpp.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/elementary.hpp"

namespace tagma::device::cpu::detail {

// Polynomials for |r| slightly above pi / 4.
template <int W>
TAGMA_INLINE pack<float, W> sin_reduced(const pack<float, W>& r) {
  const auto z = r * r;
  auto p = mul_add(z, splat<pack<float, W>>(2.7182403e-6f), -0.000198393277f);
  p = mul_add(p, z, 0.00833332937f);
  p = mul_add(p, z, -0.166666666f);
  return mul_add(r * z, p, r);
}
template <int W>
TAGMA_INLINE pack<float, W> cos_reduced(const pack<float, W>& r) {
  const auto z = r * r;
  auto p = mul_add(z, splat<pack<float, W>>(2.44377165e-5f), -0.00138873614f);
  p = mul_add(p, z, 0.0416666468f);
  return mul_add(z * z, p, mul_add(z, splat<pack<float, W>>(-0.5f), 1.0f));
}
template <int W>
TAGMA_INLINE pack<double, W> sin_reduced(const pack<double, W>& r) {
  const auto z = r * r;
  auto p = mul_add(z, splat<pack<double, W>>(-7.57862551201490571e-13), 1.60583651937364783e-10);
  p = mul_add(p, z, -2.50521049005455461e-8);
  p = mul_add(p, z, 2.75573192141488852e-6);
  p = mul_add(p, z, -0.000198412698412549893);
  p = mul_add(p, z, 0.0083333333333333227);
  p = mul_add(p, z, -0.166666666666666666);
  return mul_add(r * z, p, r);
}
template <int W>
TAGMA_INLINE pack<double, W> cos_reduced(const pack<double, W>& r) {
  const auto z = r * r;
  auto p = mul_add(z, splat<pack<double, W>>(-1.13594503300054425e-11), 2.08757195932608e-9);
  p = mul_add(p, z, -2.75573143263683197e-7);
  p = mul_add(p, z, 0.0000248015872893964895);
  p = mul_add(p, z, -0.00138888888888739941);
  p = mul_add(p, z, 0.0416666666666665988);
  return mul_add(z * z, p, mul_add(z, splat<pack<double, W>>(-0.5), 1.0));
}

// Beyond these limits the reduction by parts of pi / 2 loses bits; such lanes go to the C library one by one.
template <class T>
inline constexpr T trig_limit = same<T, float> ? T(16384) : T(65536);

// x less a number of quarter turns, which the low bits of `biased` hold. That number has at most 15 bits and each part
// of pi / 2 but the last one 9, so that their products are exact with and without FMA. The first two differences are
// exact as well; what the third one loses is added to the fourth.
template <int W>
TAGMA_INLINE pack<float, W> reduce_trig(const pack<float, W>& x, pack<float, W>& biased) {
  using P = pack<float, W>;
  constexpr float magic = ieee<float>::magic;
  biased = mul_add(x, splat<P>(0x1.45f306p-1f), magic);
  const P n = biased - magic;
  const P r = mul_add(n, splat<P>(-0x1.fbp-12f), mul_add(n, splat<P>(-0x1.92p0f), x));
  const P third = n * 0x1.51p-22f, rounded = r - third, lost = (r - rounded) - third;
  return mul_add(n, splat<P>(-0x1.184698p-44f), rounded + mul_add(n, splat<P>(-0x1.0bp-34f), lost));
}
// The three parts of pi / 2 have 33, 33 and 53 bits, so that their products with n < 2^20 are exact where it matters.
template <int W>
TAGMA_INLINE pack<double, W> reduce_trig(const pack<double, W>& x, pack<double, W>& biased) {
  constexpr double magic = ieee<double>::magic;
  biased = mul_add(x, splat<pack<double, W>>(0x1.45f306dc9c883p-1), magic);
  const auto n = biased - magic;
  const auto first = mul_add(n, splat<pack<double, W>>(-0x1.921fb544p0), x);
  const auto product = n * 0x1.0b4611a6p-34;
  const auto second = first - product;
  const auto lost = (first - second) - product;
  return second + mul_add(n, splat<pack<double, W>>(-0x1.3198a2e037073p-69), lost);
}

// The sine of x plus `turns` quarter turns.
template <int Turns, class T, int W>
TAGMA_INLINE pack<T, W> trig_part(const pack<T, W>& x) {
  pack<T, W> biased;
  const auto r = reduce_trig(x, biased);
  const auto quarter = reinterpret<signed_of<T>>(biased) + signed_of<T>{Turns};  // the low bits of magic are 0
  const auto y = select((quarter & signed_of<T>{1}) == signed_of<T>{0}, sin_reduced(r), cos_reduced(r));
  const auto sign = (reinterpret<unsigned_of<T>>(quarter) & unsigned_of<T>{2}) << (8 * static_cast<int>(sizeof(T)) - 2);
  return reinterpret<T>(reinterpret<unsigned_of<T>>(y) ^ sign);
}

// The numbers without the low 27 bits of their fraction: products of two such numbers are exact.
template <int W>
TAGMA_INLINE pack<double, W> upper_bits(const pack<double, W>& x) {
  return reinterpret<double>(reinterpret<std::uint64_t>(x) & std::uint64_t{0xfffffffff8000000u});
}

// 2^(y log2(x)) of a finite float x > 0, in doubles, with as much of both functions as a float needs.
template <int W>
TAGMA_INLINE pack<double, W> pow_of_float(const pack<double, W>& x, const pack<double, W>& y) {
  using P = pack<double, W>;
  using c = ieee<double>;
  constexpr std::uint64_t one = static_cast<std::uint64_t>(c::bias) << c::fraction_bits;
  // x = 2^e m with sqrt(1/2) <= m < sqrt(2): a float that is denormal is a normal double.
  const auto bits = reinterpret<std::uint64_t>(x), shifted = bits - c::sqrt_half + one;
  const P e = reinterpret<double>((shifted >> c::fraction_bits) | __builtin_bit_cast(std::uint64_t, c::integral)) -
              (c::integral + static_cast<double>(c::bias));
  const P m = reinterpret<double>(bits - ((shifted & c::exponent) - one));
  // log2(m) = s p(s^2)
  const P s = (m - 1.0) / (m + 1.0), z = s * s;
  P p = mul_add(z, splat<P>(0.340748952860748), 0.411671747237828);
  p = mul_add(p, z, 0.5770836003107064);
  p = mul_add(p, z, 0.9617966732663088);
  p = mul_add(p, z, 2.88539008179014);
  P t = y * mul_add(s, p, e);
  t = select(t > 300.0, splat<P>(300.0), t);
  t = select(t < -300.0, splat<P>(-300.0), t);
  const P biased = t + c::magic, f = t - (biased - c::magic);
  P r = mul_add(f, splat<P>(0.00015345807510925354), 0.0013399931183295328);
  r = mul_add(r, f, 0.009618488973812648);
  r = mul_add(r, f, 0.055503287770768225);
  r = mul_add(r, f, 0.24022646890479663);
  r = mul_add(r, f, 0.6931472057371977);
  r = mul_add(r, f, 1.0000000005541887);
  return r * power_of_two<double>(magic_integer(biased));
}
template <int W>
TAGMA_INLINE pack<float, W> pow_positive(const pack<float, W>& x, const pack<float, W>& y) {
  return convert<float>(pow_of_float(convert<double>(x), convert<double>(y)));
}
// The logarithm as a sum of two doubles: its relative error is multiplied by the exponent of the result.
template <int W>
TAGMA_INLINE pack<double, W> pow_positive(const pack<double, W>& x, const pack<double, W>& y) {
  using P = pack<double, W>;
  using c = ieee<double>;
  P e, f;
  reduce_log(normal_bits(x), e, f);
  const P d = f + 2.0, d_lo = f - (d - 2.0);
  const P s = f / d;
  const P sh = upper_bits(s), sl = s - sh, dh = upper_bits(d), dl = d - dh;
  const P s_lo = ((f - sh * dh) - sh * dl - sl * dh - sl * dl - s * d_lo) / d;
  const P z = s * s;
  const P a = e * c::ln2_hi;
  const P twice = s + s;
  const P b = a + twice;
  const P tail = mul_add(s * z, log_series(z), s_lo + s_lo);
  const P lo = (twice - (b - a)) + mul_add(e, splat<P>(c::ln2_lo), tail);
  const P l = b + lo;
  const P l_lo = lo - (l - b);
  const P p = y * l;
  const P lh = upper_bits(l), ll = l - lh, yh = upper_bits(y), yl = y - yh;
  const P p_lo = mul_add(y, l_lo, (yh * lh - p) + yh * ll + yl * lh + yl * ll);
  return exp_part(p) * (select(magnitude(p) < 1024.0, p_lo, splat<P>(0.0)) + 1.0);
}

}  // namespace tagma::device::cpu::detail
