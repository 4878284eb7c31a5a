// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Arithmetic of single elements, on the device and on the host. The rules at the edges are those of the packs of the
/// CPU: NaN wins in maxima and minima, integers divided by zero are 0, halves round to even.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/device/compute_type.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/device/index.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma::device::cuda {

/// True for the two floats that are stored in 16 bits.
template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The value of an element, exactly.
template <class T>
TAGMA_DEVICE compute_t<T> widen(const T& x) {
  if constexpr (std::is_same_v<T, float16>) {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return value;
#else
    return half_bits_to_float(x.bits);
#endif
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    return x;
  }
}

/// A computed number as an element, rounded to the nearest, ties to even.
template <class T>
TAGMA_DEVICE T narrow(compute_t<T> x) {
  if constexpr (std::is_same_v<T, float16>) {
    float16 value;
#if defined(__CUDA_ARCH__)
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
#else
    value.bits = float_to_half_bits(x);
#endif
    return value;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    std::uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    bfloat16 value;
    value.bits = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
    return value;
  } else {
    return x;
  }
}

/// True for elements that a float does not hold exactly.
template <class T>
inline constexpr bool wider_than_float = std::is_same_v<T, double> ||
                                         (std::is_integral_v<T> && sizeof(T) >= sizeof(float));

/// As `double_to_odd_float`, on the device as well.
TAGMA_DEVICE float to_odd_float(double x) {
  const auto nearest = static_cast<float>(x);
  const auto exact = static_cast<double>(nearest);
  if (!(exact < x) && !(exact > x)) return nearest;
  std::uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  if (bits << 1 == 0xff000000u) return nearest;
  bits = (bits - ((x < 0 ? exact < x : exact > x) ? 1u : 0u)) | 1u;
  float odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}
/// Integers that are too long for a double keep their high bits, and an odd one.
template <class T>
TAGMA_DEVICE float to_odd_float(T x) {
  if constexpr (sizeof(T) == 8) {
    constexpr T most = T(1) << 53;
    if ((x > most || x < -most) && (x & 0x7ff) != 0) x = (x & ~T(0x7ff)) | T(0x800);
  }
  return to_odd_float(static_cast<double>(x));
}

/// An element as another type. Floating to integer truncates, and is meaningful only within the range of the integer;
/// integer to integer keeps the low bits; everything but zero becomes true.
template <class To, class From>
TAGMA_DEVICE To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<std::int32_t>(x));
  else
    return static_cast<To>(x);
}

/// Infinity, or the largest integer.
template <class T>
TAGMA_DEVICE constexpr T highest() {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(__builtin_huge_val());
  else if constexpr (std::is_same_v<T, bool>)
    return true;
  else if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(~T(0));
  else
    return static_cast<T>(~(std::uint64_t{1} << (sizeof(T) * 8 - 1)));
}
/// Minus infinity, or the smallest integer.
template <class T>
TAGMA_DEVICE constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(-__builtin_huge_val());
  else if constexpr (std::is_same_v<T, bool>)
    return false;
  else
    return static_cast<T>(~highest<T>());
}

/// The quotient. An integer divided by zero is 0, and the most negative one divided by -1 is itself.
template <class T>
TAGMA_DEVICE T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
  }
}

}  // namespace tagma::device::cuda
