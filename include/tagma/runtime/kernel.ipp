// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of kernel.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void check_kinds(const kind_options_list& kinds, array_view<const device_text> types) {
  for (const kind_options& k : kinds.kinds()) {
    bool known = false;
    for (std::size_t t = 0; t + 1 < types.size(); ++t) known = known || types[t].view() == k.type;  // the last is CPU
    if (!known)
      fail(status_code::invalid_argument,
           {"the option kinds has options of devices of type \"", k.type, "\", which the program does not know"});
  }
}

}  // namespace tagma::runtime
