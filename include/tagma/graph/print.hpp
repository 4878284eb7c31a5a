// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A flat graph as text: names of nodes, and the drawing that Graphviz makes.

#include <string>

#include "tagma/base/heap_array.hpp"
#include "tagma/graph/pass/fuse.hpp"

namespace tagma::ir {

/// What passes found out, one entry a node of the graph.
struct pass_results {
  const need* needs = nullptr;
  const node_id* group = nullptr;
  const fusion_reason* reason = nullptr;

  [[nodiscard]] bool is_loop_member(const graph_view& g, node_id i) const;
};

namespace detail {

/// Text between double quotes of DOT.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string dot_node(const graph_view& g, const pass_results& passes, node_id i, std::string_view indent);

}  // namespace detail

/// The needed part of a graph in Graphviz' language DOT: a box around each loop of several operations, dotted edges
/// where only a shape is read, dashed edges for control dependencies. Each node appears once.
[[nodiscard]] std::string to_dot(const graph_view& g, const pass_results& passes);

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/print.ipp"
#endif
