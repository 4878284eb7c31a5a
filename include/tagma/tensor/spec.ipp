// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of spec.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string to_string(const tensor_spec& s) {
  return sentence({to_string(s.type), " ", to_string(s.dims)});
}

}  // namespace tagma
