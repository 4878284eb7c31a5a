// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Words about nodes of plans, for errors.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::runtime {

namespace detail {

/// "matmul 'hidden/kernel'" or "matmul #12".
[[nodiscard]] TAGMA_COLD inline std::string describe(const plan::plan_node& n) {
  if (n.name.empty()) return sentence({n.op->name, " #", n.source});
  return sentence({n.op->name, " '", n.name, n.suffix, "'"});
}

/// "a plan of 3 steps".
[[nodiscard]] TAGMA_COLD inline std::string describe(const plan::plan_view& plan) {
  return sentence({"a plan of ", plan.steps.size(), plan.steps.size() == 1 ? " step" : " steps"});
}

/// " float32 [2, 3] and int32 [2]".
TAGMA_COLD inline void append_spec(std::string& text, const char* before, dtype type, const shape& dims) {
  append_parts(text, {before, to_string(type), " ", to_string(dims)});
}

}  // namespace detail
}  // namespace tagma::runtime
