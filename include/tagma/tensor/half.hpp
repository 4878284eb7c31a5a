// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The two 16-bit floating types, stored as bits and computed in float.

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tagma {

/// Rounds to the nearest IEEE 754 binary16, ties to even; magnitudes of 65520 and above become infinity.
[[nodiscard]] constexpr std::uint16_t float_to_half_bits(float value) {
  const auto x = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((x >> 16) & 0x8000u);
  const std::uint32_t magnitude = x & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude >= 0x38800000u) {
    const std::uint32_t rebased = magnitude - 0x38000000u;
    return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
  }
  if (magnitude <= 0x33000000u) return sign;
  const std::uint32_t shift = 126u - (magnitude >> 23);
  const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t half_unit = 1u << (shift - 1u);
  return static_cast<std::uint16_t>(sign | ((fraction + half_unit - 1u + ((fraction >> shift) & 1u)) >> shift));
}

/// The exact value of an IEEE 754 binary16.
[[nodiscard]] constexpr float half_bits_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

/// Rounds to the nearest bfloat16, ties to even; a NaN stays a NaN.
[[nodiscard]] constexpr std::uint16_t float_to_bfloat16_bits(float value) {
  const auto x = std::bit_cast<std::uint32_t>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
  return static_cast<std::uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

/// The exact value of a bfloat16.
[[nodiscard]] constexpr float bfloat16_bits_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The float next to `value` whose last bit is set, unless `value` is a float. To round it to far fewer bits is to
/// round `value`: it is on the same side of every number halfway between two. S. Boldo, G. Melquiond, When double
/// rounding is odd, 2005.
[[nodiscard]] constexpr float double_to_odd_float(double value) {
  if (value > 0x1.fffffep127 || value < -0x1.fffffep127)
    return value > 0 ? __builtin_huge_valf() : -__builtin_huge_valf();
  const auto nearest = static_cast<float>(value);
  const auto exact = static_cast<double>(nearest);
  if (!(exact < value) && !(exact > value)) return nearest;
  const bool beyond = value < 0 ? exact < value : exact > value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (beyond ? 1u : 0u)) | 1u);
}

/// IEEE 754 binary16: 5 exponent and 10 fraction bits.
struct float16 {
  std::uint16_t bits = 0;

  constexpr float16() = default;
  constexpr explicit float16(float value) : bits(float_to_half_bits(value)) {}
  template <class Number>
    requires std::is_same_v<Number, double>
  constexpr explicit float16(Number value) : bits(float_to_half_bits(double_to_odd_float(value))) {}
  constexpr operator float() const { return half_bits_to_float(bits); }
};

/// The upper half of a float: 8 exponent and 7 fraction bits.
struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits(float_to_bfloat16_bits(value)) {}
  template <class Number>
    requires std::is_same_v<Number, double>
  constexpr explicit bfloat16(Number value) : bits(float_to_bfloat16_bits(double_to_odd_float(value))) {}
  constexpr operator float() const { return bfloat16_bits_to_float(bits); }
};

}  // namespace tagma
