// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of heap_graph.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/graph/heap_graph.hpp"

namespace tagma::ir {

TAGMA_DECL heap_graph::heap_graph(const graph_view& g) {
  copy(nodes_, g.nodes);
  copy(edges_, g.edges);
  copy(attributes_, g.attribute_pool);
  copy(roots_, g.roots);
  copy(requests_, g.requests);
  copy(loops_, g.loops);
  copy(back_edges_, g.back_edges);
  copy(loop_of_, g.loop_of);
  copy(numbers_, g.numbers);
  keep_names();
}

TAGMA_DECL graph_view heap_graph::view() const {
  return {nodes_, edges_, attributes_, roots_, requests_, loops_, back_edges_, loop_of_, numbers_};
}

TAGMA_DECL void heap_graph::feed(node_id id, const op_rules& placeholder) {
  node& n = nodes_[id];
  n.op = &placeholder;
  n.inputs = n.controls = n.colocated = n.attribute_count = 0;
  n.value = -1;
}

TAGMA_DECL void heap_graph::keep_names() {
  std::size_t length = 0;
  for (const node& n : nodes_) length += n.name.size() + n.suffix.size();
  text_.allocate(length);
  char* to = text_.data();
  const auto keep = [&](std::string_view& name) {
    const char* const from = name.data();
    for (std::size_t i = 0; i < name.size(); ++i) to[i] = from[i];
    name = {to, name.size()};
    to += name.size();
  };
  for (node& n : nodes_) keep(n.name), keep(n.suffix);
}

}  // namespace tagma::ir
