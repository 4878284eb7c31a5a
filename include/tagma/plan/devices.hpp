// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices of a plan, and what each of them is there for.

#include "tagma/base/config.hpp"
#include "tagma/graph/flat_graph.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::plan {

/// Lists the devices of a graph, each with the first node that is asked for there.
/// @param device where each node runs; empty if there is one device
/// @param to written, an element for each device
constexpr void list_devices(const ir::graph_view& g, array_view<const device_entry> set,
                            array_view<const std::int16_t> device, array_view<plan_device> to) {
  for (std::size_t d = 0; d < set.size(); ++d) {
    to[d].name = set[d].name;
    to[d].memory = set[d].memory;
  }
  for (node_id i = 0; i < g.size() && !device.empty(); ++i) {
    // A feed is with the client wherever its placeholder is asked for.
    const device_spec& asked = g.request(i);
    if (device[i] < 0 || (asked.type.empty() && asked.id < 0) || g.info(i).is(ir::op_kind::placeholder)) continue;
    plan_device& d = to[device[i]];
    if (d.op.empty()) d = {d.name, d.memory, g[i].op->info->name, g[i].name, g[i].suffix, i};
  }
}

}  // namespace tagma::plan
