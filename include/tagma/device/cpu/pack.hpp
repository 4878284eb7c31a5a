// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// `pack<T, W>`: W elements computed at once, the value type of fused element-wise loops. It is built on the vector
/// extension of g++ and clang++ and therefore follows the instruction set of the function it is inlined into. Pass it
/// by const reference. The 16-bit floating types are computed in `pack<float, W>`: `load` widens them exactly and
/// `store` rounds them to the nearest, ties to even.
/// This header has the conversions between packs of different elements, and between packs and numbers or memory.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/lanes.hpp"
#include "tagma/device/cpu/neon.hpp"

namespace tagma::device::cpu {

template <class U, class T, int W>
TAGMA_INLINE pack<compute_t<U>, W> convert(const pack<T, W>& p);

/// `splat` of what is not known when a loop is compiled: g++ would set the lanes of 64 bytes one by one.
template <class P>
TAGMA_INLINE P broadcast(typename P::value_type x) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof(P) == 64 && sizeof(x) >= 4 && !detail::split<typename P::value_type, P::width>) {
    P r;
    TAGMA_BROADCAST_64(r.v, x);
    return r;
  }
#endif
  return splat<P>(x);
}

/// 1 where the mask is set, otherwise 0.
template <int B, int W>
TAGMA_INLINE pack<bool, W> to_bool(const mask<B, W>& m) {
  return reinterpret<bool>(convert<std::uint8_t>(m.bits) & std::uint8_t{1});
}
TAGMA_INLINE bool to_bool(bool m) { return m; }
template <int B, int W>
TAGMA_INLINE mask<B, W>::operator pack<bool, W>() const {
  return to_bool(*this);
}

/// The mask that selects among packs with elements of type T.
template <class T, int W>
TAGMA_INLINE mask<static_cast<int>(sizeof(T)), W> to_mask(const pack<bool, W>& p) {
  return {-convert<signed_of<T>>(reinterpret<std::uint8_t>(p))};
}

/// `a` where the condition holds, otherwise `b`.
template <class T, int W>
TAGMA_INLINE pack<T, W> select(const pack<bool, W>& condition, const pack<T, W>& a, const pack<T, W>& b) {
  return select(to_mask<T>(condition), a, b);
}

namespace detail {
template <class U, class T, int W>
TAGMA_INLINE pack<U, W> convert_vector(const pack<T, W>& p) {
#if defined(__aarch64__)
  if constexpr (fills_vector<U, T, W>)
    return widen<U>(p);
  else if constexpr (same<U, float> && !floating<T> && sizeof(T) == 8 && W == 2)
    return floats_of(p);
  else if constexpr (floating<U> && !floating<T> && sizeof(U) == 2 * sizeof(T))
    return convert_vector<U>(convert_vector<std::conditional_t<is_signed<T>, std::int64_t, std::uint64_t>>(p));
  else if constexpr (floating<T> && !floating<U> && sizeof(U) == 2 * sizeof(T))
    return convert_vector<U>(convert_vector<double>(p));
  else if constexpr (floating<T> && !floating<U> && sizeof(T) == 2 * sizeof(U))
    return convert_vector<U>(convert_vector<std::int64_t>(p));
#endif
  return {__builtin_convertvector(p.v, typename pack<U, W>::vector_type)};
}

// Sizes change by a factor of two at a time: this is what vector units can do, and g++ falls back to single lanes else.
template <class U, class T, int W>
TAGMA_INLINE pack<U, W> convert_lanes(const pack<T, W>& p) {
  if constexpr (floating<T> && floating<U>) {
    return convert_vector<U>(p);
  } else if constexpr (floating<U>) {
    if constexpr (sizeof(T) < 4)
      return convert_vector<U>(convert_lanes<std::int32_t>(p));
    else
      return convert_vector<U>(p);
  } else if constexpr (floating<T>) {
    if constexpr (sizeof(U) < 4)
      return convert_lanes<U>(convert_vector<std::int32_t>(p));
    else
      return convert_vector<U>(p);
  } else if constexpr (sizeof(U) == sizeof(T)) {
    return reinterpret<U>(p);
  } else if constexpr (sizeof(U) > sizeof(T)) {
    using step = integer<static_cast<int>(2 * sizeof(T))>;
#if TAGMA_HAS_F16C
    if constexpr (sizeof(T) == 1 && sizeof(U) == 4 && W == default_width) {
      pack<U, W> words;
      if constexpr (is_signed<T>)
        TAGMA_LONG_OF_SIGNED_BYTE(words.v, p.v);
      else
        TAGMA_LONG_OF_BYTE(words.v, p.v);
      return words;
    }
#endif
    if constexpr (is_signed<T>)
      return convert_lanes<U>(convert_vector<typename step::type>(p));
    else
      return convert_lanes<U>(convert_vector<typename step::unsigned_type>(p));
  } else {
    return convert_lanes<U>(convert_vector<typename integer<static_cast<int>(sizeof(T) / 2)>::unsigned_type>(p));
  }
}

/// The bits of float16 numbers as floats, exactly, even in a thread that flushes denormal floats to zero. Instructions
/// make a signalling NaN a quiet one.
template <int W>
TAGMA_INLINE pack<float, W> widen_half(const pack<std::uint16_t, W>& h) {
#if defined(__aarch64__)
  if constexpr (W == 4)
    return widen_four_halves(h);
  else if constexpr (W > 4)
    return join(widen_half(low_half(h)), widen_half(high_half(h)));
#endif
#if TAGMA_HAS_F16C
  if constexpr (lanes_of<W> == default_width || W == wide_width) {
    pack<float, W> floats;
    TAGMA_FLOATS_OF_HALVES(floats.v, h.v);
    return floats;
  }
#endif
  const auto u = convert<std::uint32_t>(h);
  const auto a = u & 0x7fffu;
  const auto tiny = reinterpret<std::uint32_t>(convert<float>(reinterpret<std::int32_t>(a)) * 0x1p-24f);
  auto r = (a << 13) + 0x38000000u;
  r = select(a >= 0x7c00u, (a << 13) | 0x7f800000u, r);
  return reinterpret<float>(select(a < 0x400u, tiny, r) | ((u & 0x8000u) << 16));
}

/// Floats rounded to the nearest float16, ties to even.
template <int W>
TAGMA_INLINE pack<std::uint16_t, W> narrow_half(const pack<float, W>& p) {
#if defined(__aarch64__)
  if constexpr (W == 4)
    return narrow_to_four_halves(p);
  else if constexpr (W > 4)
    return join(narrow_half(low_half(p)), narrow_half(high_half(p)));
#endif
#if TAGMA_HAS_F16C
  if constexpr (lanes_of<W> == default_width || W == wide_width) {
    pack<std::uint16_t, W> halves;
    TAGMA_HALVES_OF_FLOATS(halves.v, p.v);
    return halves;
  }
#endif
  using U = pack<std::uint32_t, W>;
  const U x = reinterpret<std::uint32_t>(p);
  const U a = x & 0x7fffffffu;
  const U normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  const U tiny = reinterpret<std::uint32_t>(reinterpret<float>(a) + 0.5f) - 0x3f000000u;
  U r = select(a < 0x38800000u, tiny, normal);
  r = select(a >= 0x477ff000u, splat<U>(0x7c00u), r);
  r = select(a > 0x7f800000u, ((a >> 13) & 0x1ffu) | 0x7e00u, r);
  return convert<std::uint16_t>(r | ((x >> 16) & 0x8000u));
}

template <int W>
TAGMA_INLINE pack<float, W> widen_bfloat(const pack<std::uint16_t, W>& h) {
#if TAGMA_HAS_F16C
  if constexpr (lanes_of<W> == default_width || W == wide_width) {
    pack<std::uint32_t, W> words;
    TAGMA_LONG_OF_SHORT(words.v, h.v);
    return reinterpret<float>(words << 16);
  }
#endif
  return reinterpret<float>(convert<std::uint32_t>(h) << 16);
}

/// Floats rounded to the nearest bfloat16, ties to even.
template <int W>
TAGMA_INLINE pack<std::uint16_t, W> narrow_bfloat(const pack<float, W>& p) {
  const auto x = reinterpret<std::uint32_t>(p);
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof(p) == 64 && !split<float, W>) {
    using words = pack<std::uint32_t, W>;
    const words last = splat<words>(0x10000u), below = splat<words>(0x7fffu), half = splat<words>(0x8000u);
    const words quiet = splat<words>(0x400000u);
    // Pairs of the odd positions 1 to 31; what lies above them in the vector is of no use.
    typedef std::uint64_t positions __attribute__((vector_size(64)));
    const positions odd{0x7000500030001u, 0xf000d000b0009u, 0x17001500130011u, 0x1f001d001b0019u};
    pack<std::uint16_t, W> r;
    TAGMA_BFLOATS_OF_64(r.v, x.v, last.v, below.v, half.v, quiet.v, odd);
    return r;
  }
#endif
  const auto rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  return convert<std::uint16_t>(select(p != p, (x >> 16) | 0x40u, rounded));
}

/// True for elements that a float does not hold exactly.
template <class T>
inline constexpr bool wider_than_float = same<T, double> || (!floating<T> && sizeof(T) >= sizeof(float));

/// As `double_to_odd_float`.
template <int W>
TAGMA_INLINE pack<float, W> to_odd_float(const pack<double, W>& p) {
  const pack<float, W> nearest = convert<float>(p);
  const pack<double, W> exact = convert<double>(nearest);
  const auto less = exact<p, more = exact> p;
  const auto zero = splat<pack<double, W>>(0);
  const auto inexact = convert<std::int32_t>((less | more).bits);  // -1 where it is
  const auto beyond = convert<std::int32_t>(((less & (p < zero)) | (more & (p > zero))).bits);
  const auto infinite = (reinterpret<std::int32_t>(nearest) << 1) == splat<pack<std::int32_t, W>>(-0x1000000);
  const auto odd = (reinterpret<std::int32_t>(nearest) + beyond) | (inexact & 1);
  return select(infinite, nearest, reinterpret<float>(odd));
}
/// Integers are brought to doubles first; those that are too long for one keep their high bits, and an odd one.
template <class T, int W>
TAGMA_INLINE pack<float, W> to_odd_float(const pack<T, W>& p) {
  if constexpr (sizeof(T) < 8) {
    return to_odd_float(convert<double>(p));
  } else {
    using U = pack<std::uint64_t, W>;
    const U x = reinterpret<std::uint64_t>(p), low = splat<U>(0x7ff);
    const U short_enough = splat<U>(std::uint64_t{1} << 53);
    const U odd = (x & ~low) | select((x & low) == splat<U>(0), splat<U>(0), splat<U>(0x800));
    return to_odd_float(
        convert<double>(reinterpret<T>(select(x + short_enough < short_enough + short_enough, x, odd))));
  }
}

/// Whether floating numbers become integers of 64 bits by way of those of 32, to which alone AVX2 converts them.
#if defined(__x86_64__) && !defined(__AVX512DQ__)
inline constexpr bool by_short_integers = true;
#else
inline constexpr bool by_short_integers = false;
#endif
/// They do where all lanes are of magnitudes below 2^31, which no NaN is; otherwise they are converted one by one.
template <class U, class T, int W>
TAGMA_INLINE pack<U, W> convert_if_short(const pack<T, W>& p) {
  using I = signed_of<T>;
  constexpr I least_long = __builtin_bit_cast(I, T(0x1p31)), sign = static_cast<I>(I(1) << (8 * sizeof(I) - 1));
  if (!any_greater(reinterpret<I>(p) & static_cast<I>(~sign), splat<pack<I, W>>(least_long - 1)))
    return convert<U>(convert<std::int32_t>(p));
  return join(convert<U>(low_half(p)), convert<U>(high_half(p)));
}

/// A pack of fewer bytes is no vector: elements are widened together, not half by half. 0: there are no such packs.
#if defined(__x86_64__)
inline constexpr int least_bytes = 0;
#else
inline constexpr int least_bytes = 8;
#endif
template <class T>
using twice_as_long = std::conditional_t<is_signed<T>, typename integer<static_cast<int>(2 * sizeof(T))>::type,
                                         typename integer<static_cast<int>(2 * sizeof(T))>::unsigned_type>;
}  // namespace detail

/// Rounds floats to the precision of T, where T is float16 or bfloat16; leaves every other pack as it is.
template <class T, class P>
TAGMA_INLINE P round_to(const P& p) {
  if constexpr (detail::same<T, float16>)
    return detail::widen_half(detail::narrow_half(p));
  else if constexpr (detail::same<T, bfloat16>)
    return detail::widen_bfloat(detail::narrow_bfloat(p));
  else
    return p;
}

/// Elements as another type. Floating to integer truncates, and is meaningful only within the range of the integer;
/// integer to integer keeps the low bits; everything but zero becomes true; float16 and bfloat16 are floats rounded to
/// that precision, once.
template <class U, class T, int W>
TAGMA_INLINE pack<compute_t<U>, W> convert(const pack<T, W>& p) {
  using D = compute_t<U>;
  if constexpr (!detail::same<U, D> && detail::wider_than_float<T>)
    return round_to<U>(detail::to_odd_float(p));
  else if constexpr (!detail::same<U, D>)
    return round_to<U>(convert<float>(p));
  else if constexpr (detail::same<T, U>)
    return p;
  else if constexpr (detail::same<U, bool>)
    return to_bool(p != splat<pack<T, W>>(0));
  else if constexpr (detail::same<T, bool>)
    return convert<U>(reinterpret<std::uint8_t>(p));
  else if constexpr (!detail::floating<T> && !detail::floating<U> && detail::split<T, W> && sizeof(T) >= 4 * sizeof(U))
    return convert<U>(convert<typename detail::integer<static_cast<int>(sizeof(T) / 2)>::unsigned_type>(p));
  else if constexpr (!detail::floating<T> && detail::split<U, W> && sizeof(U) > 2 * sizeof(T) &&
                     static_cast<int>(sizeof(T)) * W <= detail::least_bytes)
    return convert<U>(convert<detail::twice_as_long<T>>(p));
  else if constexpr (detail::by_short_integers && detail::split<U, W> && sizeof(U) == 8 && W == default_width &&
                     detail::floating<T> && !detail::floating<U>)
    return detail::convert_if_short<U>(p);
  else if constexpr (detail::split<T, W> || detail::split<U, W>)
    return join(convert<U>(low_half(p)), convert<U>(high_half(p)));
  else
    return detail::convert_lanes<U>(p);
}

namespace detail {
// Straight into and out of the vector: through the whole struct, g++ takes a detour over the stack.
template <class T, int W>
TAGMA_INLINE void read(pack<T, W>& p, const void* from) {
  if constexpr (split<T, W>) {
    read(p.lo, from);
    read(p.hi, static_cast<const char*>(from) + sizeof p.lo);
  } else {
    __builtin_memcpy(&p.v, from, sizeof p.v);
  }
}
template <class T, int W>
TAGMA_INLINE void write(void* to, const pack<T, W>& p) {
  if constexpr (split<T, W>) {
    write(to, p.lo);
    write(static_cast<char*>(to) + sizeof p.lo, p.hi);
  } else {
    __builtin_memcpy(to, &p.v, sizeof p.v);
  }
}
}  // namespace detail

namespace detail {
/// Copies the bytes of fewer elements than a pack has. Out of line: g++ writes a copy of a few bytes out, in several
/// cases, and there is one at the end of each loop. Pieces may overlap: no call of the C library, which takes longer
/// than the loop where a tensor has few elements.
[[gnu::noinline]] inline void copy_few(void* to, const void* from, std::size_t bytes) {
  char* const t = static_cast<char*>(to);
  const char* const f = static_cast<const char*>(from);
  if (bytes >= 16) {
    for (std::size_t i = 0; i + 16 <= bytes; i += 16) __builtin_memcpy(t + i, f + i, 16);
    __builtin_memcpy(t + (bytes - 16), f + (bytes - 16), 16);
  } else if (bytes >= 8) {
    __builtin_memcpy(t, f, 8);
    __builtin_memcpy(t + (bytes - 8), f + (bytes - 8), 8);
  } else if (bytes >= 4) {
    __builtin_memcpy(t, f, 4);
    __builtin_memcpy(t + (bytes - 4), f + (bytes - 4), 4);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) t[i] = f[i];
  }
}
/// Copies `n` elements of `Size` bytes, fewer than a pack has. One by itself is what scalars are.
template <std::size_t Size>
TAGMA_INLINE void copy_rest(void* to, const void* from, std::int64_t n) {
  if (n == 1)
    __builtin_memcpy(to, from, Size);
  else
    copy_few(to, from, static_cast<std::size_t>(n) * Size);
}
/// The same, and zeros behind them: as many elements as a pack of width W has.
template <int W, std::size_t Size>
TAGMA_INLINE void copy_padded(void* to, const void* from, std::int64_t n) {
  __builtin_memset(to, 0, lanes_of<W> * Size);
  copy_rest<Size>(to, from, n);
}
}  // namespace detail

/// W elements from `from`, which needs no alignment.
template <int W = default_width, class T>
TAGMA_INLINE pack<compute_t<T>, W> load(const T* from) {
  if constexpr (detail::same<T, compute_t<T>>) {
    pack<T, W> p;
    detail::read(p, from);
    return p;
  } else {
    pack<std::uint16_t, W> bits;
    detail::read(bits, from);
    if constexpr (detail::same<T, float16>)
      return detail::widen_half(bits);
    else
      return detail::widen_bfloat(bits);
  }
}

/// The first `n` elements from `from`, and zeros in the other lanes.
/// @param n from 0 to W
template <int W = default_width, class T>
TAGMA_INLINE pack<compute_t<T>, W> load(const T* from, int n) {
  T padded[static_cast<unsigned>(W)] = {};
  for (int i = 0; i < n; ++i) padded[i] = from[i];
  return load<W>(padded);
}

/// Writes W elements to `to`, which needs no alignment.
template <class T, int W>
TAGMA_INLINE void store(T* to, const pack<compute_t<T>, W>& p) {
  if constexpr (detail::same<T, float16>)
    detail::write(to, detail::narrow_half(p));
  else if constexpr (detail::same<T, bfloat16>)
    detail::write(to, detail::narrow_bfloat(p));
  else
    detail::write(to, p);
}

/// Writes the first `n` lanes to `to`.
/// @param n from 0 to W
template <class T, int W>
TAGMA_INLINE void store(T* to, const pack<compute_t<T>, W>& p, int n) {
  T padded[static_cast<unsigned>(W)];
  store(padded, p);
  for (int i = 0; i < n; ++i) to[i] = padded[i];
}

}  // namespace tagma::device::cpu
