// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of variable_steps.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/variable_steps.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL bool counts_early(const plan::plan_view& plan) {
  bool early = !plan.loops.empty();
  for (const plan::plan_node& node : plan.nodes) early = early || node.op->stateful;
  return early && plan.writes_variables;
}

}  // namespace tagma::runtime
