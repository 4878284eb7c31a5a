// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of placement_log.hpp: in the compiled half, or else in each file that includes it.

#include <cstdio>

#include "tagma/base/config.hpp"
#include "tagma/runtime/placement_log.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL std::string placement_text(const bound_plan& bound) {
  const plan::plan_view& plan = bound.plan();
  const auto device_name = [&](const plan::plan_node& n) { return short_name(bound.device_at(n.device).name); };
  std::string text;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const plan::plan_node& n = plan.nodes[i];
    if (n.op == &ir::info<plan::transfer>) {
      const plan::plan_node& from = plan.nodes[plan.inputs[n.first_input]];
      append_parts(text, {"copy of ", detail::describe(from), ": ", device_name(from), " to ", device_name(n), ", ",
                          bound.bytes_of(static_cast<ir::node_id>(i)), " bytes\n"});
      continue;
    }
    text += n.name.empty() ? sentence({n.op->name, " #", n.source}) : sentence({n.name, n.suffix});
    const device_spec& name = bound.device_at(n.device).name;
    const ir::place_reason why = name == plan.devices[n.device].name ? plan.reason(n) : ir::place_reason::softened;
    append_parts(text, {": (", n.op->name, "): ", to_string(name), ", ",
                        n.op->is(ir::op_kind::placeholder) ? "fed there" : to_string(why), "\n"});
  }
  return text;
}

TAGMA_COLD TAGMA_DECL void log_placement(const bound_plan& bound) { std::fputs(placement_text(bound).c_str(), stderr); }

}  // namespace tagma::runtime

namespace tagma {

TAGMA_DECL void placement_log::operator()(const runtime::bound_plan& bound) const {
  if (write_ != nullptr) write_(bound);
}

}  // namespace tagma
