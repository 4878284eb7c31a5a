// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The parts of a graph that was cut.

#include <cstdint>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/graph/heap_graph.hpp"

namespace tagma::ir {

/// Which task runs each node, and on which of its devices.
struct cut_site {
  array_view<const std::int16_t> task;     ///< of each node
  array_view<const device_spec> device{};  ///< of each node, as its task knows it; empty: each task has one device
  int tasks = 1;
};

/// An edge that was cut.
struct cut_edge {
  node_id node =
      no_node;  ///< of the whole graph, whose value is handed over; `no_node`: nothing but that others are done
  std::int16_t from = 0;  ///< a task
  std::int16_t to = 0;
  std::int32_t send = -1;  ///< the position of the node `send` among the roots of its part
};

/// What one task runs.
struct graph_part {
  heap_graph graph;                   ///< its `numbers` are positions in the whole graph
  std::vector<std::int32_t> outputs;  ///< of each of its roots, which root of the whole it is; -1 for a `send`
  std::vector<std::int32_t> values;   ///< of each run-time value that its nodes take, its number in the whole program
};

/// The parts of a graph, and what leads from one to another.
struct cut_graph {
  std::vector<graph_part> parts;  ///< of each task; without nodes where a task has none
  std::vector<cut_edge> edges;    ///< by the numbers that `send` and `receive` have
  /// Of each node of the whole graph, which task has it now; a number is wherever it is read.
  std::vector<std::int16_t> task;
};

}  // namespace tagma::ir
