// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels of random tensors share on all devices.

#include "tagma/base/config.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/tensor/half.hpp"

namespace tagma::device {

/// What random numbers are drawn from; truncated normal ones lie within (-2, 2).
enum class distribution : unsigned char { uniform, normal, truncated };

namespace detail {
/// Numbers in [0, 1) that a 16-bit float holds exactly are multiples of 1 / `steps`; 0 for other types.
template <class T>
inline constexpr float steps = 0;
template <>
inline constexpr float steps<float16> = 2048;
template <>
inline constexpr float steps<bfloat16> = 256;
}  // namespace detail

TAGMA_FORMULAS_BEGIN

/// Rounds uniform numbers down to what elements of type T can hold, so that a number below 1 stays below 1.
/// @tparam P a number, or a pack of them
template <class T, class P>
TAGMA_DEVICE P representable(const P& x) {
  if constexpr (detail::steps<T> != 0)
    return floor(x * detail::steps<T>) * (1 / detail::steps<T>);
  else
    return x;
}

TAGMA_FORMULAS_END

}  // namespace tagma::device
