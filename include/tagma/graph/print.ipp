// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of print.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/graph/print.hpp"

namespace tagma::ir {

TAGMA_DECL bool pass_results::is_loop_member(const graph_view& g, node_id i) const {
  return wants_value(needs[i]) && (g.info(i).is(op_kind::elementwise) || group[i] != i);
}

}  // namespace tagma::ir

namespace tagma::ir::detail {

TAGMA_DECL std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

TAGMA_DECL std::string dot_node(const graph_view& g, const pass_results& passes, node_id i, std::string_view indent) {
  const node& n = g[i];
  const op_kind kind = n.op->info->kind;
  const char* shape = kind == op_kind::variable      ? "cylinder"
                      : kind == op_kind::placeholder ? "invhouse"
                      : kind == op_kind::control     ? "point"
                                                     : "box";
  std::string text = std::string(indent) + "n" + std::to_string(i) + " [shape=" + shape + ", label=\"" +
                     escaped(n.op->info->name) + " #" + std::to_string(i);
  if (!n.name.empty()) text += "\\n" + escaped(n.name) + escaped(n.suffix);
  if (n.spec.type != dtype::none) text += "\\n" + to_string(n.spec);
  text += '"';
  if (passes.needs[i] == need::extents) text += ", style=dotted";
  return text + "];\n";
}

}  // namespace tagma::ir::detail

namespace tagma::ir {

TAGMA_DECL std::string to_dot(const graph_view& g, const pass_results& passes) {
  std::string text = "digraph tagma {\n  rankdir=TB;\n  node [fontname=\"monospace\", fontsize=10];\n";
  const heap_array<int> members(g.size());
  for (node_id i = 0; i < g.size(); ++i)
    if (passes.is_loop_member(g, i)) ++members[passes.group[i]];
  const auto in_box = [&](node_id i) { return passes.is_loop_member(g, i) && members[passes.group[i]] > 1; };
  for (node_id i = 0; i < g.size(); ++i) {
    if (passes.needs[i] == need::nothing) continue;
    if (!in_box(i)) text += detail::dot_node(g, passes, i, "  ");
    if (!in_box(i) || passes.group[i] != i) continue;
    const std::string number = std::to_string(i);
    text += "  subgraph cluster_" + number + " {\n    label=\"one loop, result #" + number + "\";\n";
    text += "    style=rounded;\n";
    for (node_id m = 0; m <= i; ++m)
      if (passes.is_loop_member(g, m) && passes.group[m] == i) text += detail::dot_node(g, passes, m, "    ");
    text += "  }\n";
  }
  const auto edge = [&text](node_id from, node_id to, const char* style) {
    text += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + style + ";\n";
  };
  for (node_id i = 0; i < g.size(); ++i) {
    if (passes.needs[i] == need::nothing) continue;
    int k = 0;
    for (const node_id in : g.inputs(i)) edge(in, i, g.info(i).ignores_elements(k++) ? " [style=dotted]" : "");
    if (wants_value(passes.needs[i]))
      for (const node_id c : g.controls(i)) edge(c, i, " [style=dashed]");
  }
  return text + "}\n";
}

}  // namespace tagma::ir
