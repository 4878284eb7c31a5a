// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Single instructions of aarch64 for packs, where g++ 12 takes the lanes one by one or the general formula takes many:
/// part of pack.hpp. As text, since the compilers' manuals list no builtins, and <arm_neon.h> costs each file an eighth
/// of what tagma.hpp does.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/lanes.hpp"

#if defined(__aarch64__)

namespace tagma::device::cpu::detail {

/// True if elements of type T are eight bytes, and as many of type U a whole vector.
template <class U, class T, int W>
inline constexpr bool fills_vector = sizeof(U) == 2 * sizeof(T) &&
                                     static_cast<int>(sizeof(U)) * W == 16 && floating<U> == floating<T>;

/// Numbers as numbers of twice the size, integers as integers of twice the size.
template <class U, class T, int W>
  requires(fills_vector<U, T, W>)
TAGMA_INLINE pack<U, W> widen(const pack<T, W>& p) {
  typename pack<U, W>::vector_type r;
  if constexpr (floating<T>)
    asm("fcvtl %0.2d, %1.2s" : "=w"(r) : "w"(p.v));
  else if constexpr (is_signed<T> && W == 8)
    asm("sxtl %0.8h, %1.8b" : "=w"(r) : "w"(p.v));
  else if constexpr (is_signed<T> && W == 4)
    asm("sxtl %0.4s, %1.4h" : "=w"(r) : "w"(p.v));
  else if constexpr (is_signed<T>)
    asm("sxtl %0.2d, %1.2s" : "=w"(r) : "w"(p.v));
  else if constexpr (W == 8)
    asm("uxtl %0.8h, %1.8b" : "=w"(r) : "w"(p.v));
  else if constexpr (W == 4)
    asm("uxtl %0.4s, %1.4h" : "=w"(r) : "w"(p.v));
  else
    asm("uxtl %0.2d, %1.2s" : "=w"(r) : "w"(p.v));
  return {r};
}

/// Integers of 64 bits as floats, rounded once: clang 19 makes doubles of them first. There is an instruction for one.
template <class T>
TAGMA_INLINE pack<float, 2> floats_of(const pack<T, 2>& p) {
  pack<float, 2> r;
  for (int i = 0; i < 2; ++i) {
    float one;
    if constexpr (is_signed<T>)
      asm("scvtf %s0, %x1" : "=w"(one) : "r"(p.v[i]));
    else
      asm("ucvtf %s0, %x1" : "=w"(one) : "r"(p.v[i]));
    r.v[i] = one;
  }
  return r;
}

/// The bits of four float16 numbers as floats, whether or not this thread flushes denormal floats to zero.
TAGMA_INLINE pack<float, 4> widen_four_halves(const pack<std::uint16_t, 4>& h) {
  pack<float, 4>::vector_type r;
  asm("fcvtl %0.4s, %1.4h" : "=w"(r) : "w"(h.v));
  return {r};
}
/// Four floats rounded to the nearest float16, ties to even.
TAGMA_INLINE pack<std::uint16_t, 4> narrow_to_four_halves(const pack<float, 4>& p) {
  pack<std::uint16_t, 4>::vector_type r;
  asm("fcvtn %0.4h, %1.4s" : "=w"(r) : "w"(p.v));
  return {r};
}

/// Square roots of a whole vector.
TAGMA_INLINE pack<float, 4> roots(const pack<float, 4>& x) {
  pack<float, 4>::vector_type r;
  asm("fsqrt %0.4s, %1.4s" : "=w"(r) : "w"(x.v));
  return {r};
}
TAGMA_INLINE pack<double, 2> roots(const pack<double, 2>& x) {
  pack<double, 2>::vector_type r;
  asm("fsqrt %0.2d, %1.2d" : "=w"(r) : "w"(x.v));
  return {r};
}

}  // namespace tagma::device::cpu::detail

#endif
