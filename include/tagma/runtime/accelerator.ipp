// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of accelerator.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/accelerator.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL const gpu_options& options_of(std::string_view type, const gpu_options& others,
                                                    const kind_options_list& kinds) {
  for (const kind_options& k : kinds.kinds())
    if (k.type == type) return k.options;
  return others;
}

}  // namespace tagma::runtime
