// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of link.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::transport {

TAGMA_DECL std::string to_string(const identity& who) {
  return sentence(
      {"/job:", who.job.empty() ? std::string_view("unknown") : std::string_view(who.job), "/task:", who.task});
}

}  // namespace tagma::transport
