// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Arithmetic of positions and extents, for kernels of all devices.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma::device {

/// The quotient of two extents or positions; by 32-bit arithmetic where both fit, which is several times as fast.
TAGMA_DEVICE constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0)
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
  return a / b;
}

/// The pieces of `each` things that hold `count` of them.
TAGMA_DEVICE constexpr std::int64_t pieces(std::int64_t count, std::int64_t each) {
  return quotient(count + each - 1, each);
}

/// Calls `some(axis, position)` for every axis: where element `index` is along it, counted along the last axis first.
template <class Some>
TAGMA_DEVICE void unravel(std::int64_t index, const std::int64_t* extents, int axes, const Some& some) {
  for (int a = axes - 1; a > 0; --a) {
    const std::int64_t next = quotient(index, extents[a]);
    some(a, index - next * extents[a]);
    index = next;
  }
  if (axes > 0) some(0, index);
}

/// Element `i` of a tensor of indices.
TAGMA_DEVICE std::int64_t index_at(const std::byte* indices, dtype type, std::int64_t i) {
  switch (type) {
    case dtype::int64:
      return reinterpret_cast<const std::int64_t*>(indices)[i];
    case dtype::int32:
      return reinterpret_cast<const std::int32_t*>(indices)[i];
    case dtype::int16:
      return reinterpret_cast<const std::int16_t*>(indices)[i];
    case dtype::int8:
      return reinterpret_cast<const std::int8_t*>(indices)[i];
    default:
      return reinterpret_cast<const std::uint8_t*>(indices)[i];
  }
}

}  // namespace tagma::device
