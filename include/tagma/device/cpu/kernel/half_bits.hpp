// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops of one operation over 16-bit floats whose result is its operand with other bits: nothing is widened or
/// rounded.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/loop.hpp"
#include "tagma/expr/op/math.hpp"

namespace tagma::device::cpu::detail {

/// What becomes of the bits of a 16-bit float, and whether the operation is one of these.
template <const char& Operation>
struct half_bits {
  static constexpr bool exists = false;
};
template <>
struct half_bits<ir::key<op::abs>> {
  static constexpr bool exists = true;
  template <class S, class P>
  TAGMA_INLINE static P apply(const P& x) {
    return x & static_cast<std::int16_t>(0x7fff);
  }
};
template <>
struct half_bits<ir::key<op::negate>> {
  static constexpr bool exists = true;
  template <class S, class P>
  TAGMA_INLINE static P apply(const P& x) {
    return x ^ static_cast<std::int16_t>(-0x8000);
  }
};
/// All bits of a NaN, as `max` of packs makes them.
template <>
struct half_bits<ir::key<op::relu>> {
  static constexpr bool exists = true;
  template <class S, class P>
  TAGMA_INLINE static P apply(const P& x) {
    constexpr std::int16_t infinity = same<S, float16> ? 0x7c00 : 0x7f80;
    const auto nan = (x & static_cast<std::int16_t>(0x7fff)) > infinity;
    return (x & ~(x >> 15)) | nan.bits;
  }
};

/// What computes neighbouring elements, as many as whole packs have.
using bits_function = void (*)(std::byte* out, const std::byte* const* in, std::int64_t n);

/// The loop of an operation, if it is one of these.
template <class Loads, class Operations>
struct loop_of_bits {
  static bits_function or_else(bits_function span) { return span; }
};
template <dtype Type, const char& Operation, int B, int C>
  requires(size_of(Type) == 2 && !same<stored<Type>, compute_t<stored<Type>>> && half_bits<Operation>::exists)
struct loop_of_bits<types<load_of<Type, true>>, types<operation_of<Operation, Type, 0, B, C>>> {
  static constexpr int lanes = 16;
  static bits_function or_else(bits_function) {
    return best_variant<loop_of_bits, std::byte*, const std::byte* const*, std::int64_t>();
  }

  TAGMA_INLINE static void run(std::byte* out, const std::byte* const* in, std::int64_t n) {
    auto* const to = reinterpret_cast<std::int16_t*>(out);
    const auto* const from = reinterpret_cast<const std::int16_t*>(in[0]);
    for (std::int64_t i = 0; i < n; i += lanes)
      store(to + i, half_bits<Operation>::template apply<stored<Type>>(load<lanes>(from + i)));
  }
};

}  // namespace tagma::device::cpu::detail
