// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of scalar.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/scalar.hpp"

namespace tagma::runtime::detail {

TAGMA_COLD TAGMA_DECL void store_scalar(std::byte* to, dtype type, double number, std::int64_t integer) {
  switch (type) {
    case dtype::float32:
      return store_as(to, static_cast<float>(number));
    case dtype::float64:
      return store_as(to, number);
    case dtype::float16:
      return store_as(to, float16(number));
    case dtype::bfloat16:
      return store_as(to, bfloat16(number));
    case dtype::boolean:
      return store_as(to, integer != 0);
    default:
      if (!is_integer(type)) return;
      for (std::size_t i = 0; i < size_of(type); ++i, integer >>= 8) to[i] = static_cast<std::byte>(integer & 0xff);
  }
}
TAGMA_COLD TAGMA_DECL void store_scalar(std::byte* to, dtype type, double number) {
  const bool fits = number >= -0x1p63 && number < 0x1p63;
  store_scalar(to, type, number,
               fits         ? static_cast<std::int64_t>(number)
               : number > 0 ? INT64_MAX
               : number < 0 ? INT64_MIN
                            : 0);
}

}  // namespace tagma::runtime::detail
