// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of plan_text.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/plan_text.hpp"

namespace tagma::runtime::detail {

TAGMA_COLD TAGMA_DECL std::string describe(const plan::plan_node& n) {
  if (n.name.empty()) return sentence({n.op->name, " #", n.source});
  return sentence({n.op->name, " '", n.name, n.suffix, "'"});
}

TAGMA_COLD TAGMA_DECL std::string describe(const plan::plan_view& plan) {
  return sentence({"a plan of ", plan.steps.size(), plan.steps.size() == 1 ? " step" : " steps"});
}

TAGMA_COLD TAGMA_DECL void append_spec(std::string& text, const char* before, dtype type, const shape& dims) {
  append_parts(text, {before, to_string(type), " ", to_string(dims)});
}

}  // namespace tagma::runtime::detail
