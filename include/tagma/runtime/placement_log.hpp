// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What `log_device_placement` tells: the node, where it runs and why, in TensorFlow's form.

#include <cstdio>

#include "tagma/graph/build.hpp"
#include "tagma/graph/pass/place.hpp"
#include "tagma/runtime/device.hpp"

namespace tagma::runtime {

/// Writes one line for each node to standard error: "w: (variable): /job:localhost/replica:0/task:0/device:CPU:0, asked
/// for".
/// @param where the device of each node as the program numbers them; empty: the first
/// @param why nullptr: there is only one device
TAGMA_COLD inline void log_placement(const ir::graph_view& g, array_view<const std::int16_t> where,
                                     const ir::place_reason* why, const device_table& devices) {
  std::string text = "Device mapping: no known devices.\n";  // none has a description beside its name
  for (ir::node_id i = 0; i < g.size(); ++i) {
    if (!where.empty() && where[i] < 0) continue;
    const ir::node& n = g[i];
    const session_device& d = devices[where.empty() ? 0 : static_cast<std::size_t>(where[i])];
    text += n.name.empty() ? sentence({n.op->info->name, " #", i}) : sentence({n.name, n.suffix});
    text += sentence({": (", n.op->info->name, "): ", to_string(d.name), ", ",
                      to_string(why == nullptr ? ir::place_reason::only_choice : why[i]), "\n"});
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace tagma::runtime
