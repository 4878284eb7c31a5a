// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run leaves behind: the variables that it updates, and other state that it changes.

#include <string>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/graph/flat_graph.hpp"

namespace tagma {

/// "'w', 'b' and more" of what outputs of a graph change, at most eight of them: variables by their names, queues and
/// other resources by what is done to them. Empty if a run of them changes nothing.
/// @param outputs by their positions
[[nodiscard]] std::string updates_of_run(const ir::graph_view& g, array_view<const int> outputs);

/// Whether a graph has variables, queues or other things that are on a server: then no other server stands in for it.
[[nodiscard]] bool has_state(const ir::graph_view& g);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/updates_of_run.ipp"
#endif
