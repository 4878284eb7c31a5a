// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The floats of 16 bits by their definition, for tests of conversions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "tagma/tensor/half.hpp"

namespace tagma::test {

/// An IEEE 754 binary format of 16 bits by its definition: numbers in double and powers of two, no tricks with bits.
struct format {
  int fraction_bits;
  int exponent_bits;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The distance between the smallest numbers is two to this power.
  [[nodiscard]] int smallest() const { return 1 - bias() - fraction_bits; }

  [[nodiscard]] double value(std::uint32_t bits) const {
    const auto fractions = static_cast<std::uint32_t>(std::ldexp(1.0, fraction_bits));
    const std::uint32_t fraction = bits % fractions, exponent = bits % 32768 / fractions;
    const double sign = bits >= 32768 ? -1.0 : 1.0;
    if (static_cast<int>(exponent) == 2 * bias() + 1)
      return sign *
             (fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
    if (exponent == 0) return sign * std::ldexp(static_cast<double>(fraction), smallest());
    return sign * std::ldexp(static_cast<double>(fractions + fraction), static_cast<int>(exponent) - 1 + smallest());
  }

  /// The number of the format nearest to `x`, the one with an even fraction of two; not for a NaN.
  [[nodiscard]] double nearest(long double x) const {
    if (x == 0 || std::isinf(x)) return static_cast<double>(x);
    int exponent = 0;
    static_cast<void>(std::frexp(x, &exponent));  // |x| in [1/2, 1) times two to this power
    const int unit = std::max(exponent - 1 - fraction_bits, smallest());
    const auto rounded = static_cast<double>(std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit));
    return std::abs(rounded) >= std::ldexp(1.0, bias() + 1) ? std::copysign(HUGE_VAL, rounded) : rounded;
  }
};
inline constexpr format half{10, 5}, brain{7, 8};

template <class T>
inline constexpr const format& format_of = std::is_same_v<T, float16> ? half : brain;

[[nodiscard]] inline bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// Doubles at, halfway between and next to all numbers of a format, and beyond the largest; and their negatives.
template <class T>
[[nodiscard]] std::vector<double> doubles_around() {
  const format& f = format_of<T>;
  std::vector<double> all;
  for (std::uint32_t bits = 0; std::isfinite(f.value(bits)); ++bits) {
    const double here = f.value(bits), next = f.value(bits + 1);
    const double end = std::isinf(next) ? std::ldexp(1.0, f.bias() + 1) : next, middle = (here + end) / 2;
    const double tiny = (end - here) * 0x1p-30;  // too little for a float
    for (const double x : {here, middle, middle - tiny, middle + tiny, std::nextafter(middle, 0.0),
                           std::nextafter(middle, HUGE_VAL), here + tiny})
      all.insert(all.end(), {x, -x});
  }
  for (const double x : {0x1.fffffffffffffp127, 0x1.ffffffp127, 0x1p128, 1e300, HUGE_VAL, 0x1p-1074, 0x1p-150})
    all.insert(all.end(), {x, -x});
  return all;
}

}  // namespace tagma::test
