// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// `pack<T, W>` and its arithmetic. Part of pack.hpp, which is what loops include.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/base/scalar_math.hpp"
#include "tagma/device/compute_type.hpp"

namespace tagma::device::cpu {

/// Bytes of the widest vector that one pack holds directly; a longer pack is a pair of shorter ones. Vectors of 64
/// bytes are for loops that are compiled for AVX-512: sixteen elements of four bytes, and those of `wide_eight`.
#if defined(__x86_64__)
inline constexpr int native_bytes = 32, wide_bytes = 64;
#else
inline constexpr int native_bytes = 16, wide_bytes = 16;
#endif

/// The number of lanes that loops use, and that of loops for AVX-512.
inline constexpr int default_width = 8, wide_width = 16;
/// The width of loops for AVX-512 with elements of eight bytes: eight lanes, of which those elements are one vector,
/// where `default_width` makes them two. An odd width has one lane fewer, so that its half is the width of its halves.
inline constexpr int wide_eight = 9;
/// The number of lanes of a width.
template <int W>
inline constexpr int lanes_of = W > 1 ? W / 2 * 2 : W;

namespace detail {
template <class T>
struct storage {
  using type = T;
};
template <>
struct storage<bool> {
  using type = std::uint8_t;
};

template <int Bytes>
struct integer;
template <>
struct integer<1> {
  using type = std::int8_t;
  using unsigned_type = std::uint8_t;
};
template <>
struct integer<2> {
  using type = std::int16_t;
  using unsigned_type = std::uint16_t;
};
template <>
struct integer<4> {
  using type = std::int32_t;
  using unsigned_type = std::uint32_t;
};
template <>
struct integer<8> {
  using type = std::int64_t;
  using unsigned_type = std::uint64_t;
};

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;
template <class T>
inline constexpr bool floating = same<T, float> || same<T, double>;
template <class T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(1);
template <class T, int W>
inline constexpr bool split = static_cast<int>(sizeof(T)) * lanes_of<W> >
                              ((sizeof(T) == 4 && W == wide_width) || W == wide_eight ? wide_bytes : native_bytes);
}  // namespace detail

/// The signed and the unsigned integer of the size of T.
template <class T>
using signed_of = typename detail::integer<sizeof(T)>::type;
template <class T>
using unsigned_of = typename detail::integer<sizeof(T)>::unsigned_type;

/// W elements of type T; W is a power of two, or `wide_eight`. A bool is a byte that is 0 or 1.
template <class T, int W>
struct pack {
  using value_type = T;
  static constexpr int width = W;
  static constexpr unsigned bytes = sizeof(T) * static_cast<unsigned>(lanes_of<W>);
  typedef typename detail::storage<T>::type vector_type __attribute__((vector_size(bytes)));
  vector_type v;
};

template <class T, int W>
  requires(detail::split<T, W>)
struct pack<T, W> {
  using value_type = T;
  static constexpr int width = W;
  pack<T, W / 2> lo, hi;
};

/// The outcome of a comparison of packs with lanes of `Bytes` bytes: every lane is 0 or -1.
template <int Bytes, int W>
struct mask {
  pack<typename detail::integer<Bytes>::type, W> bits;
  /// 1 where it is set, otherwise 0; defined in pack.hpp.
  explicit operator pack<bool, W>() const;
};

/// The type of a comparison of two packs of type P.
template <class P>
using mask_of = mask<static_cast<int>(sizeof(typename P::value_type)), P::width>;

namespace detail {
template <class P>
inline constexpr bool is_pack = false;
template <class T, int W>
inline constexpr bool is_pack<pack<T, W>> = true;

// N consecutive lanes of `a` followed by `b`. The indices are spelled out because nvcc loses a parameter pack here.
template <int N, int First, class T, int W>
TAGMA_INLINE pack<T, N> shuffle(const pack<T, W>& a, const pack<T, W>& b) {
  constexpr int f = First;
  constexpr int n = lanes_of<N>;
  if constexpr (n == 2) {
    return {__builtin_shufflevector(a.v, b.v, f, f + 1)};
  } else if constexpr (n == 4) {
    return {__builtin_shufflevector(a.v, b.v, f, f + 1, f + 2, f + 3)};
  } else if constexpr (n == 8) {
    return {__builtin_shufflevector(a.v, b.v, f, f + 1, f + 2, f + 3, f + 4, f + 5, f + 6, f + 7)};
  } else if constexpr (n == 16) {
    return {__builtin_shufflevector(a.v, b.v, f, f + 1, f + 2, f + 3, f + 4, f + 5, f + 6, f + 7, f + 8, f + 9, f + 10,
                                    f + 11, f + 12, f + 13, f + 14, f + 15)};
  } else {
    pack<T, N> r;
    for (int i = 0; i < n; ++i) r.v[i] = First + i < W ? a.v[First + i] : b.v[First + i - W];
    return r;
  }
}
}  // namespace detail

/// The first half of the lanes.
template <class T, int W>
TAGMA_INLINE pack<T, W / 2> low_half(const pack<T, W>& p) {
  if constexpr (detail::split<T, W>)
    return p.lo;
  else
    return detail::shuffle<W / 2, 0>(p, p);
}

/// The second half of the lanes.
template <class T, int W>
TAGMA_INLINE pack<T, W / 2> high_half(const pack<T, W>& p) {
  if constexpr (detail::split<T, W>)
    return p.hi;
  else
    return detail::shuffle<W / 2, W / 2>(p, p);
}

/// The lanes of `lo` and then those of `hi`.
template <class T, int W>
TAGMA_INLINE pack<T, 2 * W> join(const pack<T, W>& lo, const pack<T, W>& hi) {
  if constexpr (detail::split<T, 2 * W>)
    return {lo, hi};
  else
    return detail::shuffle<2 * W, 0>(lo, hi);
}

/// The value `x` in every lane; `x` itself where P is no pack, so that one kernel serves both.
template <class P, class V>
TAGMA_INLINE P splat(V x) {
  if constexpr (!detail::is_pack<P>) {
    return static_cast<P>(x);
  } else {
    using T = typename P::value_type;
    if constexpr (detail::split<T, P::width>) {
      const auto half = splat<pack<T, P::width / 2>>(x);
      return {half, half};
    } else {
      // As an initializer, for 16 bytes at a time: g++ takes everything else apart, lane by lane, because it looks at
      // this function before it knows the instructions of the loop that it becomes part of.
      const auto s = static_cast<typename detail::storage<T>::type>(static_cast<T>(x));
      constexpr int lanes = sizeof(P) == 64 ? 0 : lanes_of<P::width>;
      if constexpr (sizeof(P) == 32) {
        const auto half = splat<pack<T, P::width / 2>>(x);
        return detail::shuffle<P::width, 0>(half, half);
      } else if constexpr (lanes == 2) {
        return {typename P::vector_type{s, s}};
      } else if constexpr (lanes == 4) {
        return {typename P::vector_type{s, s, s, s}};
      } else if constexpr (lanes == 8) {
        return {typename P::vector_type{s, s, s, s, s, s, s, s}};
      } else {
        return {s - typename P::vector_type{}};
      }
    }
  }
}

/// The same bits as elements of another type of the same size.
template <class U, class T, int W>
TAGMA_INLINE pack<U, W> reinterpret(const pack<T, W>& p) {
  static_assert(sizeof(U) == sizeof(T));
  if constexpr (detail::split<T, W>)
    return {reinterpret<U>(p.lo), reinterpret<U>(p.hi)};
  else
    return {__builtin_bit_cast(typename pack<U, W>::vector_type, p.v)};
}

/// Lane `i`, counted from 0.
template <class T, int W>
TAGMA_INLINE T lane(const pack<T, W>& p, int i) {
  if constexpr (detail::split<T, W>)
    return i < W / 2 ? lane(p.lo, i) : lane(p.hi, i - W / 2);
  else
    return static_cast<T>(p.v[i]);
}

/// Replaces lane `i`.
template <class T, int W>
TAGMA_INLINE void set_lane(pack<T, W>& p, int i, T x) {
  if constexpr (detail::split<T, W>) {
    if (i < W / 2)
      set_lane(p.lo, i, x);
    else
      set_lane(p.hi, i - W / 2, x);
  } else {
    p.v[i] = x;
  }
}

/// Arithmetic, lane by lane, of two packs or of a pack and an element. Integers wrap around.
#define TAGMA_PACK_BINARY(op, wrapped)                                                          \
  template <class T, int W>                                                                     \
  TAGMA_INLINE pack<T, W> operator op(const pack<T, W>& a, const pack<T, W>& b) {               \
    if constexpr (detail::split<T, W>) {                                                        \
      return {a.lo op b.lo, a.hi op b.hi};                                                      \
    } else if constexpr (wrapped && !detail::floating<T>) {                                     \
      using U = typename pack<unsigned_of<T>, W>::vector_type;                                  \
      return {__builtin_bit_cast(typename pack<T, W>::vector_type,                              \
                                 __builtin_bit_cast(U, a.v) op __builtin_bit_cast(U, b.v))};    \
    } else {                                                                                    \
      return {a.v op b.v};                                                                      \
    }                                                                                           \
  }                                                                                             \
  template <class T, int W>                                                                     \
  TAGMA_INLINE pack<T, W> operator op(const pack<T, W>& a, typename pack<T, W>::value_type b) { \
    return a op splat<pack<T, W>>(b);                                                           \
  }                                                                                             \
  template <class T, int W>                                                                     \
  TAGMA_INLINE pack<T, W> operator op(typename pack<T, W>::value_type a, const pack<T, W>& b) { \
    return splat<pack<T, W>>(a) op b;                                                           \
  }
TAGMA_PACK_BINARY(+, true)
TAGMA_PACK_BINARY(-, true)
TAGMA_PACK_BINARY(*, true)
TAGMA_PACK_BINARY(&, false)
TAGMA_PACK_BINARY(|, false)
TAGMA_PACK_BINARY(^, false)
#undef TAGMA_PACK_BINARY
#if defined(__x86_64__)
/// Of bytes: there is an instruction for products of two bytes each, and g++ would take single lanes.
template <class T, int W>
  requires(sizeof(T) == 1 && W >= 8 && !detail::split<T, W>)
TAGMA_INLINE pack<T, W>
operator*(const pack<T, W>& a, const pack<T, W>& b) {
  using pairs = typename pack<std::uint16_t, W / 2>::vector_type;
  const pairs x = __builtin_bit_cast(pairs, a.v), y = __builtin_bit_cast(pairs, b.v);
  const pairs low = (x * y) & 0xffu, high = (x >> 8) * (y & 0xff00u);
  return {__builtin_bit_cast(typename pack<T, W>::vector_type, low | high)};
}
#endif

/// The same of numbers or packs: integers wrap around, where + and * of numbers would not. 1u keeps the product of two
/// short ones from being one of `int`, which overflows.
/// @{
template <class P>
TAGMA_INLINE P sum_of(const P& a, const P& b) {
  if constexpr (std::is_integral_v<P>)
    return static_cast<P>(static_cast<unsigned_of<P>>(a) + static_cast<unsigned_of<P>>(b));
  else
    return static_cast<P>(a + b);
}
template <class P>
TAGMA_INLINE P product_of(const P& a, const P& b) {
  if constexpr (std::is_integral_v<P>)
    return static_cast<P>(1u * static_cast<unsigned_of<P>>(a) * static_cast<unsigned_of<P>>(b));
  else
    return static_cast<P>(a * b);
}
/// @}

/// Comparisons, lane by lane; a NaN is unordered and differs from everything.
#define TAGMA_PACK_COMPARE(op)                                                                              \
  template <class T, int W>                                                                                 \
  TAGMA_INLINE mask<static_cast<int>(sizeof(T)), W> operator op(const pack<T, W>& a, const pack<T, W>& b) { \
    if constexpr (detail::split<T, W>)                                                                      \
      return {{(a.lo op b.lo).bits, (a.hi op b.hi).bits}};                                                  \
    else                                                                                                    \
      return {{__builtin_bit_cast(typename pack<signed_of<T>, W>::vector_type, a.v op b.v)}};               \
  }                                                                                                         \
  template <class T, int W>                                                                                 \
  TAGMA_INLINE mask<static_cast<int>(sizeof(T)), W> operator op(const pack<T, W>& a,                        \
                                                                typename pack<T, W>::value_type b) {        \
    return a op splat<pack<T, W>>(b);                                                                       \
  }
TAGMA_PACK_COMPARE(==)
TAGMA_PACK_COMPARE(!=)
TAGMA_PACK_COMPARE(<)
TAGMA_PACK_COMPARE(<=)
TAGMA_PACK_COMPARE(>)
TAGMA_PACK_COMPARE(>=)
#undef TAGMA_PACK_COMPARE

template <int B, int W>
TAGMA_INLINE mask<B, W> operator&(const mask<B, W>& a, const mask<B, W>& b) {
  return {a.bits & b.bits};
}
template <int B, int W>
TAGMA_INLINE mask<B, W> operator|(const mask<B, W>& a, const mask<B, W>& b) {
  return {a.bits | b.bits};
}
template <int B, int W>
TAGMA_INLINE mask<B, W> operator^(const mask<B, W>& a, const mask<B, W>& b) {
  return {a.bits ^ b.bits};
}
template <int B, int W>
TAGMA_INLINE mask<B, W> operator!(const mask<B, W>& a) {
  return {~a.bits};
}

template <class T, int W>
TAGMA_INLINE pack<T, W> operator-(const pack<T, W>& a) {
  if constexpr (detail::split<T, W>)
    return {-a.lo, -a.hi};
  else if constexpr (detail::floating<T>)
    return {-a.v};
  else
    return splat<pack<T, W>>(0) - a;
}

template <class T, int W>
TAGMA_INLINE pack<T, W> operator~(const pack<T, W>& a) {
  if constexpr (detail::split<T, W>)
    return {~a.lo, ~a.hi};
  else
    return {~a.v};
}

/// Logical not of bools.
template <int W>
TAGMA_INLINE pack<bool, W> operator!(const pack<bool, W>& a) {
  return a ^ splat<pack<bool, W>>(true);
}

/// Shifts of integers by `n` bits, below the size of T; a right shift of a signed integer keeps its sign.
template <class T, int W>
TAGMA_INLINE pack<T, W> operator<<(const pack<T, W>& a, int n) {
  if constexpr (detail::split<T, W>)
    return {a.lo << n, a.hi << n};
  else
    return reinterpret<T>(pack<unsigned_of<T>, W>{reinterpret<unsigned_of<T>>(a).v << n});
}
template <class T, int W>
TAGMA_INLINE pack<T, W> operator>>(const pack<T, W>& a, int n) {
  if constexpr (detail::split<T, W>)
    return {a.lo >> n, a.hi >> n};
  else
    return {a.v >> n};
}

/// `a` where the mask is set, otherwise `b`.
template <class T, int W>
TAGMA_INLINE pack<T, W> select(const mask<static_cast<int>(sizeof(T)), W>& m, const pack<T, W>& a,
                               const pack<T, W>& b) {
  if constexpr (detail::split<T, W>) {
    return {select<T, W / 2>({m.bits.lo}, a.lo, b.lo), select<T, W / 2>({m.bits.hi}, a.hi, b.hi)};
  } else {
    return {m.bits.v ? a.v : b.v};
  }
}
using scalar_math::select;

/// Quotients. No lane ever traps: an integer divided by zero is 0, and the most negative one divided by -1 is itself.
template <class T, int W>
TAGMA_INLINE pack<T, W> operator/(const pack<T, W>& a, const pack<T, W>& b) {
  if constexpr (detail::split<T, W>) {
    return {a.lo / b.lo, a.hi / b.hi};
  } else if constexpr (detail::floating<T>) {
    return {a.v / b.v};
  } else {
    using P = pack<T, W>;
    const P one = splat<P>(1), zero = splat<P>(0);
    if constexpr (detail::is_signed<T>) {
      const auto negate = b == static_cast<T>(-1);
      const P safe = select((b == zero) | negate, one, b);
      return select(b == zero, zero, select(negate, zero - a, P{a.v / safe.v}));
    } else {
      return select(b == zero, zero, P{a.v / select(b == zero, one, b).v});
    }
  }
}
template <class T, int W>
TAGMA_INLINE pack<T, W> operator/(const pack<T, W>& a, typename pack<T, W>::value_type b) {
  return a / splat<pack<T, W>>(b);
}
template <class T, int W>
TAGMA_INLINE pack<T, W> operator/(typename pack<T, W>::value_type a, const pack<T, W>& b) {
  return splat<pack<T, W>>(a) / b;
}

/// Remainders of integers with the sign of `a`; `a` itself where `b` is zero.
template <class T, int W>
TAGMA_INLINE pack<T, W> operator%(const pack<T, W>& a, const pack<T, W>& b) {
  return a - (a / b) * b;
}

/// a * b + c, rounded once where the instruction set has FMA and twice elsewhere.
template <class T, int W>
TAGMA_INLINE pack<T, W> mul_add(const pack<T, W>& a, const pack<T, W>& b, const pack<T, W>& c) {
  if constexpr (detail::split<T, W>)
    return {mul_add(a.lo, b.lo, c.lo), mul_add(a.hi, b.hi, c.hi)};
  else if constexpr (detail::floating<T>)
    return {a.v * b.v + c.v};
  else
    return a * b + c;
}
template <class T, int W>
TAGMA_INLINE pack<T, W> mul_add(const pack<T, W>& a, const pack<T, W>& b, typename pack<T, W>::value_type c) {
  return mul_add(a, b, splat<pack<T, W>>(c));
}

/// `a` as it is: a product that made it and a sum that it becomes part of are rounded one after the other.
template <class T, int W>
TAGMA_INLINE pack<T, W> separate(const pack<T, W>& a) {
  if constexpr (!detail::floating<T>) {
    return a;
  } else if constexpr (detail::split<T, W>) {
    return {separate(a.lo), separate(a.hi)};
  } else {
    auto v = a.v;
    TAGMA_ROUND(v);
    return {v};
  }
}

/// The smaller or larger element; `b` where they are equal or one is a NaN: one instruction.
/// @{
template <class T, int W>
TAGMA_INLINE pack<T, W> smaller(const pack<T, W>& a, const pack<T, W>& b) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr ((detail::floating<T> && sizeof(a) == 64 && !detail::split<T, W>) ||
                (detail::same<T, std::int32_t> && sizeof(a) == 32)) {
    pack<T, W> r;
    TAGMA_SMALLER(r.v, a.v, b.v);
    return r;
  }
#endif
  return select(a < b, a, b);
}
template <class T, int W>
TAGMA_INLINE pack<T, W> larger(const pack<T, W>& a, const pack<T, W>& b) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr ((detail::floating<T> && sizeof(a) == 64 && !detail::split<T, W>) ||
                (detail::same<T, std::int32_t> && sizeof(a) == 32)) {
    pack<T, W> r;
    TAGMA_LARGER(r.v, a.v, b.v);
    return r;
  }
#endif
  return select(a > b, a, b);
}
/// @}

namespace detail {
/// `x`, and a NaN where `a` is one: all bits of it.
template <class T, int W>
TAGMA_INLINE pack<T, W> or_nan(const pack<T, W>& x, const pack<T, W>& a) {
  if constexpr (floating<T>)
    return reinterpret<T>(reinterpret<signed_of<T>>(x) | (a != a).bits);
  else
    return x;
}
}  // namespace detail

/// The smaller element; a NaN if either is one.
template <class T, int W>
TAGMA_INLINE pack<T, W> min(const pack<T, W>& a, const pack<T, W>& b) {
  return detail::or_nan(smaller(a, b), a);
}

/// The larger element; a NaN if either is one.
template <class T, int W>
TAGMA_INLINE pack<T, W> max(const pack<T, W>& a, const pack<T, W>& b) {
  return detail::or_nan(larger(a, b), a);
}

using scalar_math::max;
using scalar_math::min;

/// True if a lane of the mask is set.
template <int B, int W>
TAGMA_INLINE bool any(const mask<B, W>& m) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof m == 32) {
    bool is_set;
    TAGMA_ANY_BIT_32(is_set, m.bits.v);
    return is_set;
  } else if constexpr (sizeof m == 64 && !detail::split<typename detail::integer<B>::type, W>) {
    bool is_set;
    TAGMA_ANY_BIT_64(is_set, m.bits.v);
    return is_set;
  }
#endif
  if constexpr (B * W > 16) {
    return any(mask<B, W / 2>{low_half(m.bits) | high_half(m.bits)});
  } else {
    unsigned char bytes[sizeof m];
    __builtin_memcpy(bytes, &m.bits, sizeof bytes);
    if constexpr (B * W < 8) {
      unsigned set = 0;
      for (const unsigned char byte : bytes) set |= byte;
      return set != 0;
    } else {
      std::uint64_t first, last;
      __builtin_memcpy(&first, bytes, 8);
      __builtin_memcpy(&last, bytes + sizeof bytes - 8, 8);
      return (first | last) != 0;
    }
  }
}

/// True if a lane of `a` is greater than that of `b`: signed integers.
template <class T, int W>
TAGMA_INLINE bool any_greater(const pack<T, W>& a, const pack<T, W>& b) {
#if TAGMA_HAS_VECTOR_TEXT
  if constexpr (sizeof(a) == 64 && !detail::split<T, W>) {
    bool set;
    TAGMA_ANY_GREATER_64(set, a.v, b.v);
    return set;
  }
#endif
  return any(a > b);
}

/// True if every lane of the mask is set.
template <int B, int W>
TAGMA_INLINE bool all(const mask<B, W>& m) {
  return !any(!m);
}

namespace detail {
template <class Op, class T, int W>
TAGMA_INLINE T reduce(const pack<T, W>& p) {
  if constexpr (static_cast<int>(sizeof(T)) * W > 16) {
    return reduce<Op>(Op::apply(low_half(p), high_half(p)));
  } else {
    T r = lane(p, 0);
    for (int i = 1; i < lanes_of<W>; ++i) r = Op::apply(r, lane(p, i));
    return r;
  }
}
struct add_lanes {
  template <class P>
  TAGMA_INLINE static P apply(const P& a, const P& b) {
    return static_cast<P>(a + b);
  }
};
struct min_lanes {
  template <class P>
  TAGMA_INLINE static P apply(const P& a, const P& b) {
    return min(a, b);
  }
};
struct max_lanes {
  template <class P>
  TAGMA_INLINE static P apply(const P& a, const P& b) {
    return max(a, b);
  }
};
}  // namespace detail

/// The sum of the lanes, added in halves.
template <class T, int W>
TAGMA_INLINE T reduce_add(const pack<T, W>& p) {
  return detail::reduce<detail::add_lanes>(p);
}
/// The smallest lane; a NaN if there is one.
template <class T, int W>
TAGMA_INLINE T reduce_min(const pack<T, W>& p) {
  return detail::reduce<detail::min_lanes>(p);
}
/// The largest lane; a NaN if there is one.
template <class T, int W>
TAGMA_INLINE T reduce_max(const pack<T, W>& p) {
  return detail::reduce<detail::max_lanes>(p);
}

}  // namespace tagma::device::cpu
