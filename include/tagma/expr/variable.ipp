// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of variable.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/expr/variable.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL carried_value number_value(double number) {
  carried_value v;
  v.integer = static_cast<std::int64_t>(initializer_kind::constant);
  v.number = number;
  return v;
}

}  // namespace tagma::detail
