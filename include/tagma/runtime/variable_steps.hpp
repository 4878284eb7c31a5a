// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which variables a step of a plan needs.

#include "tagma/base/config.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::runtime {

/// True if a step reads or writes a variable.
[[nodiscard]] TAGMA_COLD constexpr bool needs_variable(const plan::plan_view& plan, const plan::plan_step& step) {
  bool needs = plan.nodes[step.node].is_in(plan::storage_kind::variable);
  for (int k = 0; k < step.operands && !needs; ++k)
    plan.each_member(plan.operands[step.first_operand + k],
                     [&](ir::node_id i) { needs = needs || plan.nodes[i].is_in(plan::storage_kind::variable); });
  return needs;
}
/// True if runs of a plan that updates variables need their number before the first step that needs a variable: it
/// draws random numbers by that, or does steps again and again, which are of one run.
[[nodiscard]] bool counts_early(const plan::plan_view& plan);
/// Calls `f(slot, k)` for each variable that a step writes, where `k` is its operand: what it updates, and the slots
/// of an optimizer.
template <class F>
TAGMA_COLD void each_written(const plan::plan_view& plan, const plan::plan_step& step, const F& f) {
  const plan::plan_node& n = plan.nodes[step.node];
  if (!n.op->is(ir::op_kind::update) || !n.is_in(plan::storage_kind::variable)) return;
  f(n.slot, 0);
  for (int k = 1; k < step.operands; ++k) {
    const plan::plan_node& in = plan.nodes[plan.operands[step.first_operand + k]];
    if (in.is_in(plan::storage_kind::variable) && !in.suffix.empty() && in.slot != n.slot) f(in.slot, k);
  }
}

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/variable_steps.ipp"
#endif
