// SPDX-License-Identifier: BSL-1.0
// Loops over the functions of packs, what they should give, and how far from it they are.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/math.hpp"
#include "tagma/with_macros.hpp"

namespace tagma::test {

namespace cpu = tagma::device::cpu;

#define TAGMA_TEST_FUNCTION(name)             \
  struct name##_function {                    \
    template <class P>                        \
    TAGMA_INLINE static P apply(const P& x) { \
      return cpu::name(x);                    \
    }                                         \
    template <class L>                        \
    static L reference(L x) {                 \
      return reference_##name(x);             \
    }                                         \
  };
template <class L>
L reference_exp(L x) {
  return std::exp(x);
}
template <class L>
L reference_exp_of_negative(L x) {
  return std::exp(x);
}
template <class L>
L reference_expm1(L x) {
  return std::expm1(x);
}
template <class L>
L reference_log(L x) {
  return std::log(x);
}
template <class L>
L reference_log1p(L x) {
  return std::log1p(x);
}
template <class L>
L reference_tanh(L x) {
  return std::tanh(x);
}
template <class L>
L reference_erf(L x) {
  return std::erf(x);
}
template <class L>
L reference_sin(L x) {
  return std::sin(x);
}
template <class L>
L reference_cos(L x) {
  return std::cos(x);
}
template <class L>
L reference_sqrt(L x) {
  return std::sqrt(x);
}
template <class L>
L reference_rsqrt(L x) {
  return 1 / std::sqrt(x);
}
template <class L>
L reference_floor(L x) {
  return std::floor(x);
}
template <class L>
L reference_ceil(L x) {
  return std::ceil(x);
}
template <class L>
L reference_round(L x) {
  return std::nearbyint(x);
}
template <class L>
L reference_abs(L x) {
  return std::fabs(x);
}
template <class L>
L reference_sigmoid(L x) {
  return 1 / (1 + std::exp(-x));
}
template <class L>
L reference_softplus(L x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
TAGMA_TEST_FUNCTION(exp)
TAGMA_TEST_FUNCTION(exp_of_negative)
TAGMA_TEST_FUNCTION(expm1)
TAGMA_TEST_FUNCTION(log)
TAGMA_TEST_FUNCTION(log1p)
TAGMA_TEST_FUNCTION(tanh)
TAGMA_TEST_FUNCTION(erf)
TAGMA_TEST_FUNCTION(sin)
TAGMA_TEST_FUNCTION(cos)
TAGMA_TEST_FUNCTION(sqrt)
TAGMA_TEST_FUNCTION(rsqrt)
TAGMA_TEST_FUNCTION(floor)
TAGMA_TEST_FUNCTION(ceil)
TAGMA_TEST_FUNCTION(round)
TAGMA_TEST_FUNCTION(abs)
TAGMA_TEST_FUNCTION(sigmoid)
TAGMA_TEST_FUNCTION(softplus)

template <class F, int W>
struct unary_loop_of {
  template <class T>
  TAGMA_INLINE static void run(T* out, const T* in, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + cpu::lanes_of<W> <= n; i += cpu::lanes_of<W>) cpu::store(out + i, F::apply(cpu::load<W>(in + i)));
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      cpu::store(out + i, F::apply(cpu::load<W>(in + i, rest)), rest);
    }
  }
};
template <class F, class T>
using unary_loop =
    cpu::with_wide<unary_loop_of<F, 8>, unary_loop_of<F, sizeof(T) == 8 ? cpu::wide_eight : cpu::wide_width>>;
// The distance of `y` from the exact result in units in the last place of T near that result.
template <class T, class L>
double ulps(T y, L exact) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0 : 1e9;
  if (std::isinf(exact)) return static_cast<L>(y) == exact ? 0 : 1e9;
  const L largest = std::scalbn(L{1}, limits::max_exponent);
  const L value = std::isinf(y) ? std::copysign(largest, static_cast<L>(y)) : static_cast<L>(y);
  if (std::fabs(exact) >= largest) return std::isinf(y) && (y > 0) == (exact > 0) ? 0 : 1e9;
  const int exponent = exact == 0 ? limits::min_exponent - 1 : std::max(std::ilogb(exact), limits::min_exponent - 1);
  return static_cast<double>(std::fabs(value - exact) / std::scalbn(L{1}, exponent - limits::digits + 1));
}

// Numbers from `low` to `high`: evenly spaced ones, and ones with evenly spaced bit patterns.
template <class T>
std::vector<T> sweep(T low, T high, int n) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> x;
  for (int i = 0; i <= n; ++i) x.push_back(low + (high - low) * (static_cast<T>(i) / static_cast<T>(n)));
  for (const T end : {low, high}) {
    const auto top = std::bit_cast<bits>(std::fabs(end));
    for (int i = 0; i <= n; ++i) {
      const T magnitude = std::bit_cast<T>(static_cast<bits>(top / static_cast<bits>(n) * static_cast<bits>(i)));
      const T value = std::copysign(magnitude, end);
      if (value >= low && value <= high) x.push_back(value);
    }
  }
  return x;
}

}  // namespace tagma::test
