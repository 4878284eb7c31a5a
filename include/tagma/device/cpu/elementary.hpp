// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The formulas behind math.hpp: exponential, logarithm, hyperbolic and error functions of packs. Part of math.hpp.
/// Polynomials are minimax fits over the reduced range.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu {

namespace detail {
template <class T>
struct ieee;
template <>
struct ieee<float> {
  static constexpr int fraction_bits = 23;
  static constexpr std::int32_t bias = 127;
  static constexpr std::uint32_t sign = 0x80000000u, exponent = 0x7f800000u, sqrt_half = 0x3f3504f3u;
  static constexpr float integral = 0x1p23f, magic = 0x1.8p23f, smallest = 0x1p-126f, infinity = __builtin_inff();
  static constexpr float nan = __builtin_nanf(""), log2e = 0x1.715476p0f;
  static constexpr float ln2_hi = 0x1.63p-1f, ln2_lo = -0x1.bd0106p-13f;
  static constexpr float exp_low = -104.0f, exp_high = 89.0f, exp_normal = -87.0f, expm1_low = -20.0f;
};
template <>
struct ieee<double> {
  static constexpr int fraction_bits = 52;
  static constexpr std::int64_t bias = 1023;
  static constexpr std::uint64_t sign = 0x8000000000000000u, exponent = 0x7ff0000000000000u;
  static constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
  static constexpr double integral = 0x1p52, magic = 0x1.8p52, smallest = 0x1p-1022, infinity = __builtin_inf();
  static constexpr double nan = __builtin_nan(""), log2e = 0x1.71547652b82fep0;
  static constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr double exp_low = -746.0, exp_high = 710.0, exp_normal = -708.0, expm1_low = -40.0;
};

template <class T, int W>
TAGMA_INLINE pack<T, W> magnitude(const pack<T, W>& x) {
  return reinterpret<T>(reinterpret<unsigned_of<T>>(x) & static_cast<unsigned_of<T>>(~ieee<T>::sign));
}
// The sign of `s` and the magnitude of `x`, where `x` is not negative.
template <class T, int W>
TAGMA_INLINE pack<T, W> with_sign(const pack<T, W>& x, const pack<T, W>& s) {
  return reinterpret<T>(reinterpret<unsigned_of<T>>(x) | (reinterpret<unsigned_of<T>>(s) & ieee<T>::sign));
}
// 2^k, where it is a normal number.
template <class T, int W>
TAGMA_INLINE pack<T, W> power_of_two(const pack<signed_of<T>, W>& k) {
  return reinterpret<T>((k + ieee<T>::bias) << ieee<T>::fraction_bits);
}
// The integers that the low bits of `t` hold after the addition of the magic number.
template <class T, int W>
TAGMA_INLINE pack<signed_of<T>, W> magic_integer(const pack<T, W>& t) {
  return reinterpret<signed_of<T>>(t) - __builtin_bit_cast(signed_of<T>, ieee<T>::magic);
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
template <int W>
TAGMA_INLINE pack<float, W> exp_tail(const pack<float, W>& r) {
  auto p = mul_add(r, splat<pack<float, W>>(0.00139517195f), 0.00836959823f);
  p = mul_add(p, r, 0.0416661873f);
  p = mul_add(p, r, 0.166665129f);
  return mul_add(p, r, 0.50000001f);
}
template <int W>
TAGMA_INLINE pack<double, W> exp_tail(const pack<double, W>& r) {
  const auto z = r * r;  // two chains, of which processors compute both at once
  auto p = mul_add(z, splat<pack<double, W>>(2.09279023330240211e-9), 2.75572300435083621e-7);
  auto q = mul_add(z, splat<pack<double, W>>(2.51134374837572067e-8), 2.75572308200197757e-6);
  p = mul_add(p, z, 0.0000248015873779689159);
  q = mul_add(q, z, 0.000198412699004547895);
  p = mul_add(p, z, 0.00138888888888560333);
  q = mul_add(q, z, 0.0083333333333153793);
  p = mul_add(p, z, 0.0416666666666667303);
  q = mul_add(q, z, 0.166666666666666856);
  return mul_add(q, r, mul_add(p, z, 0.5));
}

// x = n ln(2) + r with an integer n and |r| <= ln(2) / 2; `biased` has n in its low bits. Results come by reference
// because g++ assembles a returned struct of packs in memory.
template <class T, int W>
TAGMA_INLINE void reduce_exp(const pack<T, W>& x, pack<T, W>& r, pack<T, W>& n, pack<T, W>& biased) {
  using c = ieee<T>;
  biased = mul_add(x, splat<pack<T, W>>(c::log2e), c::magic);
  n = biased - c::magic;
  r = mul_add(n, splat<pack<T, W>>(-c::ln2_hi), x);
  r = mul_add(n, splat<pack<T, W>>(-c::ln2_lo), r);
}

// y 2^n for `biased` with n in its low bits, and y near 1. Two factors, because 2^n alone may be beyond the range of a
// result that is within it; the instruction rounds once, as the second product does.
template <class T, int W>
TAGMA_INLINE pack<T, W> scaled(const pack<T, W>& y, const pack<T, W>& n, const pack<T, W>& biased) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof(y) == 64) {
    pack<T, W> r;
    TAGMA_SCALED_64(r.v, y.v, n.v);
    return r;
  }
#endif
  const auto half = magic_integer(mul_add(n, splat<pack<T, W>>(T(0.5)), ieee<T>::magic));
  return y * power_of_two<T>(half) * power_of_two<T>(magic_integer(biased) - half);
}

// e^x below the limit above which it is infinite.
template <class T, int W>
TAGMA_INLINE pack<T, W> bounded_exp(const pack<T, W>& argument) {
  using P = pack<T, W>;
  P r, n, biased;
  reduce_exp(larger(splat<P>(ieee<T>::exp_low), argument), r, n, biased);
  return scaled(mul_add(r * r, exp_tail(r), r) + T{1}, n, biased);
}

template <class T, int W>
TAGMA_INLINE pack<T, W> exp_part(const pack<T, W>& x) {
  return bounded_exp(smaller(splat<pack<T, W>>(ieee<T>::exp_high), x));
}

// e^x of x up to 0, and 0 where that is hardly a normal number: one factor will do.
template <class T, int W>
TAGMA_INLINE pack<T, W> exp_of_negative_part(const pack<T, W>& argument) {
  using P = pack<T, W>;
  using c = ieee<T>;
  const P x = larger(splat<P>(c::exp_normal), argument);
  P r, n, biased;
  reduce_exp(x, r, n, biased);
  const P y = mul_add(r * r, exp_tail(r), r) + T{1};
  return select(argument < c::exp_normal, splat<P>(T{0}), y * power_of_two<T>(magic_integer(biased)));
}

// e^x - 1 between the limits beyond which it is -1 or infinite.
template <class T, int W>
TAGMA_INLINE pack<T, W> bounded_expm1(const pack<T, W>& x) {
  using P = pack<T, W>;
  P r, n, biased;
  reduce_exp(x, r, n, biased);
  const P y = mul_add(r * r, exp_tail(r), r);
  const P scale = power_of_two<T>(magic_integer(biased) - 1);
  return select(n == T{0}, y, mul_add(y, scale, scale - T(0.5)) * T{2});
}

template <class T, int W>
TAGMA_INLINE pack<T, W> expm1_part(const pack<T, W>& argument) {
  using P = pack<T, W>;
  using c = ieee<T>;
  return bounded_expm1(larger(splat<P>(c::expm1_low), smaller(splat<P>(c::exp_high), argument)));
}

// Exponents of logarithms have an offset, so that they stay positive where numbers below the normal ones have theirs.
template <class T>
inline constexpr unsigned_of<T> log_offset = static_cast<unsigned_of<T>>(unsigned_of<T>{64} << ieee<T>::fraction_bits);
template <>
inline constexpr std::uint32_t log_offset<float> = std::uint32_t{32} << ieee<float>::fraction_bits;

// `bits` of a number = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). They are those of a positive normal number, or
// what `normal_bits` gives.
template <class T, int W>
TAGMA_INLINE void reduce_log(const pack<unsigned_of<T>, W>& bits, pack<T, W>& e, pack<T, W>& f) {
  using c = ieee<T>;
  using U = unsigned_of<T>;
  constexpr U one = static_cast<U>(static_cast<U>(c::bias) << c::fraction_bits), offset = one + log_offset<T>;
  constexpr T zero_exponent = c::integral + static_cast<T>(offset >> c::fraction_bits);
  const auto shifted = bits + static_cast<U>(offset - c::sqrt_half);
  e = reinterpret<T>((shifted >> c::fraction_bits) | __builtin_bit_cast(U, c::integral)) - zero_exponent;
  f = reinterpret<T>(bits - ((shifted & static_cast<U>(c::sign | c::exponent)) - offset)) - T{1};
}
// Those of the number times 2^k that is normal, less k in the exponent, which may wrap around.
template <class T, int W>
TAGMA_INLINE pack<unsigned_of<T>, W> normal_bits(const pack<T, W>& x) {
  using c = ieee<T>;
  using U = unsigned_of<T>;
  const auto tiny = x < c::smallest;
  const auto bits = reinterpret<U>(select(tiny, x * (c::integral * T{4}), x));
  return select(tiny, bits - static_cast<U>(U{c::fraction_bits + 2} << c::fraction_bits), bits);
}
// True if a lane is not finite, or below 2^`Above` times the least normal number: one comparison, of integers whose
// order is turned about.
template <int Above, class T, int W>
TAGMA_INLINE bool any_special(const pack<T, W>& x) {
  using c = ieee<T>;
  using U = unsigned_of<T>;
  constexpr U least = static_cast<U>(U{1 + Above} << c::fraction_bits);
  constexpr U last = c::exponent - least - 1;
  return any_greater(reinterpret<signed_of<T>>(reinterpret<U>(x) - static_cast<U>(least + c::sign)),
                     splat<pack<signed_of<T>, W>>(__builtin_bit_cast(signed_of<T>, static_cast<U>(last - c::sign))));
}

// With s = f / (2 + f) and z = s^2: ln(1 + f) = 2 s + s z log_series(z).
template <int W>
TAGMA_INLINE pack<double, W> log_series(const pack<double, W>& z) {
  auto p = mul_add(z, splat<pack<double, W>>(0.132543511522082519), 0.132497872161952317);
  p = mul_add(p, z, 0.153871053695360771);
  p = mul_add(p, z, 0.181817753328060153);
  p = mul_add(p, z, 0.222222226509357511);
  p = mul_add(p, z, 0.285714285690585314);
  p = mul_add(p, z, 0.400000000000063319);
  return mul_add(p, z, 0.666666666666666609);
}

template <int W>
TAGMA_INLINE pack<float, W> log_positive(const pack<std::uint32_t, W>& bits) {
  using P = pack<float, W>;
  using c = ieee<float>;
  P e, f;
  reduce_log(bits, e, f);
  auto p = mul_add(f, splat<P>(0.0691554903f), -0.117898697f);
  p = mul_add(p, f, 0.118729243f);
  p = mul_add(p, f, -0.123843341f);
  p = mul_add(p, f, 0.142186639f);
  p = mul_add(p, f, -0.166692519f);
  p = mul_add(p, f, 0.200022263f);
  p = mul_add(p, f, -0.249999866f);
  p = mul_add(p, f, 0.333333104f);
  const P z = f * f;
  P y = mul_add(e, splat<P>(c::ln2_lo), z * f * p);
  y = mul_add(z, splat<P>(-0.5f), y);
  return mul_add(e, splat<P>(c::ln2_hi), f + y);
}
template <int W>
TAGMA_INLINE pack<double, W> log_positive(const pack<std::uint64_t, W>& bits) {
  using P = pack<double, W>;
  using c = ieee<double>;
  P e, f;
  reduce_log(bits, e, f);
  const P h = f * f * 0.5;
  const P s = f / (f + 2.0);
  const P z = s * s;
  const P y = mul_add(e, splat<P>(c::ln2_lo), s * mul_add(z, log_series(z), h));
  return mul_add(e, splat<P>(c::ln2_hi), f - (h - y));
}

// `finite`, the logarithm of a positive and finite `x`, and what it is elsewhere.
template <class T, int W>
TAGMA_INLINE pack<T, W> log_elsewhere(const pack<T, W>& x, const pack<T, W>& finite) {
  using P = pack<T, W>;
  using c = ieee<T>;
  P y = select(x == c::infinity, x, finite);
  y = select(x == T{0}, splat<P>(-c::infinity), y);
  return select(!(x >= T{0}), splat<P>(c::nan), y);
}
template <class T, int W>
TAGMA_INLINE pack<T, W> log_part(const pack<T, W>& x) {
  auto bits = reinterpret<unsigned_of<T>>(x);
  const bool special = any_special<0>(x);
  if (special) [[unlikely]]
    bits = normal_bits(x);
  const auto y = log_positive(bits);
  if (!special) [[likely]]
    return y;
  return log_elsewhere(x, y);
}

template <class T, int W>
TAGMA_INLINE pack<T, W> log1p_part(const pack<T, W>& x) {
  const auto u = x + T{1};
  const auto corrected = log_positive(reinterpret<unsigned_of<T>>(u)) - ((u - T{1}) - x) / u;
  return log_elsewhere(u, select(x == T{0}, x, corrected));
}

template <class T, int W>
TAGMA_INLINE pack<T, W> tanh_part(const pack<T, W>& x) {
  using P = pack<T, W>;
  const P a = magnitude(x);
  const P e = bounded_expm1(smaller(splat<P>(T{40}), a + a));
  return with_sign(e / (e + T{2}), x);
}

template <class T, int W>
TAGMA_INLINE pack<T, W> sigmoid_part(const pack<T, W>& x) {
  using P = pack<T, W>;
  const P e = bounded_exp(-magnitude(x));
  return select(x < T{0}, e, splat<P>(T{1})) / (e + T{1});
}

template <class T, int W>
TAGMA_INLINE pack<T, W> softplus_part(const pack<T, W>& x) {
  return max(x, splat<pack<T, W>>(T{0})) + log1p_part(bounded_exp(-magnitude(x)));
}

// 1 - 2^-u for every x, where u = -log2(erfc(|x|)) is a polynomial: 2^-u - 1 is as exact as u where u is small. Terms
// by pairs, so that fewer operations wait for each other; of two products that are added, the greater is not rounded.
template <int W>
TAGMA_INLINE pack<float, W> erf_part(const pack<float, W>& x) {
  using P = pack<float, W>;
  using c = ieee<float>;
  const P t = smaller(splat<P>(3.93f), magnitude(x)), t2 = t * t;
  const P low =
      mul_add(t2, mul_add(t, splat<P>(-0.00035341713f), -0.02758846f), mul_add(t, splat<P>(0.14827181f), 0.91844755f));
  const P high = mul_add(t2, mul_add(t, splat<P>(-1.7500537e-05f), 0.00020318267f),
                         mul_add(t, splat<P>(-0.0010173124f), 0.0025637487f));
  const P l = mul_add(t2 * t2, high, low), u = mul_add(t, splat<P>(1.627907f), separate(t2 * l));
  // 2^f - 1 with |f| <= 1/2, and 2^-n, which is far from the ends of its range.
  const P biased = c::magic - u, f = (c::magic - biased) - u, f2 = f * f;
  P q = mul_add(f2, splat<P>(0.0001538303f), mul_add(f, splat<P>(0.0013387406f), 0.009618308f));
  q = mul_add(f2, q, mul_add(f, splat<P>(0.055503674f), 0.24022649f));
  q = mul_add(f, splat<P>(0.6931472f), separate(f2 * q));
  const P scale = reinterpret<float>((reinterpret<std::int32_t>(biased) << 23) + (c::bias << 23));
  return with_sign(mul_add(-scale, q, 1.0f - scale), x);
}
// The same by 1 - e^-u, with a quotient.
template <int W>
TAGMA_INLINE pack<double, W> erf_part(const pack<double, W>& x) {
  using P = pack<double, W>;
  using c = ieee<double>;
  const P t = smaller(splat<P>(6.0), magnitude(x));
  P p = mul_add(t, splat<P>(0.00011824497421944124), 0.003232700429544612);
  p = mul_add(p, t, 0.031156393399735208);
  p = mul_add(p, t, 0.1609753861754936);
  p = mul_add(p, t, 0.5072163587756694);
  p = mul_add(p, t, 1.0003119711323574);
  p = mul_add(p, t, 1.1669788843750761);
  p = mul_add(p, t, 0.636619772367582);
  P q = mul_add(t, splat<P>(0.00011826600929260604), 0.0033637089218490216);
  q = mul_add(q, t, 0.03439320070304399);
  q = mul_add(q, t, 0.18866860225522353);
  q = mul_add(q, t, 0.6323444115363694);
  q = mul_add(q, t, 1.3314705217212195);
  q = mul_add(q, t, 1.6716513172618068);
  q = mul_add(q, t, 1.0);
  const P u = mul_add(t, mul_add(t, p / q, 0.12837916709551257), t);
  const P biased = mul_add(u, splat<P>(-c::log2e), c::magic), n = biased - c::magic;
  const P r = mul_add(n, splat<P>(-0x1.62e42fefa39efp-1), -u), scale = power_of_two<double>(magic_integer(biased));
  const P y = mul_add(r * r, exp_tail(r), r);
  return with_sign(mul_add(-scale, y, 1.0 - scale), x);
}
}  // namespace detail

}  // namespace tagma::device::cpu
