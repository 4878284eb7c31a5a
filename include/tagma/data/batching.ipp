// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of batching.hpp: in the compiled half, or else in each file that includes it.

#include <cstdio>

#include "tagma/base/config.hpp"
#include "tagma/data/batching.hpp"

namespace tagma::datasets::detail {

/// Whether a type has a value, but for what is lost where it is rounded.
[[nodiscard]] TAGMA_COLD TAGMA_DECL bool has_value(dtype type, double x) {
  if (type == dtype::boolean) return x == 0 || x == 1;
  if (is_integer(type)) {
    const bool is_signed = type != dtype::uint8;
    double end = is_signed ? 0.5 : 1;
    for (std::size_t byte = 0; byte < size_of(type); ++byte) end *= 256;
    return x >= (is_signed ? -end : 0) && x < end && x == static_cast<double>(static_cast<std::int64_t>(x));
  }
  const double most = type == dtype::float16 ? 65504 : type == dtype::bfloat16 ? 0x1.fep127 : 0x1.fffffep127;
  return type == dtype::none || type == dtype::float64 || !(x - x == 0) || (x >= -most && x <= most);
}

TAGMA_COLD TAGMA_DECL void check_padding(const padding_options& options, const dtype* types, std::size_t count) {
  const std::size_t shapes = options.shapes.size(), values = options.values.size();
  if (shapes > count || values > count)
    fail(status_code::invalid_argument, {"padded_batch: ", shapes, " shapes and ", values, " values for elements of ",
                                         count, count == 1 ? " component" : " components"});
  for (std::size_t i = 0; i < values; ++i) {
    if (detail::has_value(types[i], options.values[i])) continue;
    char text[32];
    (void)std::snprintf(text, sizeof text, "%.15g", options.values[i]);
    fail(status_code::invalid_argument,
         {"padded_batch: component ", i, " is ", to_string(types[i]), ", which has no ", text, " to pad with"});
  }
}

}  // namespace tagma::datasets::detail
