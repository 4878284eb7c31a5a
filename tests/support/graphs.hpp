// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Flat graphs of expressions, the same whether the compiler builds them or the program that runs.

#include "tagma/graph/build.hpp"

namespace tagma::test {

/// Room for the small graphs of the tests; passes are instantiated for it.
inline constexpr std::size_t room = 64;

/// The graph of some records, whose numbers are those that a survey finds.
template <std::size_t Nodes, bool Scoped, std::size_t Roots>
[[nodiscard]] constexpr ir::built_graph<Nodes, Roots, Scoped> build_numbered(
    const fixed_array<const ir::record*, Roots>& roots) {
  ir::detail::surveyor s(Roots);
  for (const ir::record* r : roots) s.visit(*r);
  return ir::build_graph<Nodes, Roots, Scoped>(roots, s.owners.view(), s.gradients.view());
}

template <expression... E>
[[nodiscard]] constexpr ir::built_graph<room, sizeof...(E)> build(const E&...) {
  return build_numbered<room, false, sizeof...(E)>({{&E::record()...}});
}

/// The same with device scopes.
template <expression... E>
[[nodiscard]] constexpr ir::built_graph<room, sizeof...(E), true> build_scoped(const E&...) {
  return build_numbered<room, true, sizeof...(E)>({{&E::record()...}});
}

template <std::size_t Nodes, std::size_t Roots, bool Scoped>
[[nodiscard]] constexpr ir::graph_view view_of(const ir::built_graph<Nodes, Roots, Scoped>& built) {
  return {{built.storage.nodes.data(), static_cast<std::size_t>(built.nodes)},
          {built.storage.edges.data(), static_cast<std::size_t>(built.edges)},
          {built.storage.attributes.data(), static_cast<std::size_t>(built.attributes)},
          built.roots,
          {built.requests, static_cast<std::size_t>(built.request_count)}};
}

/// How often an operation occurs in a graph.
[[nodiscard]] constexpr int count_of(const ir::graph_view& g, std::string_view name) {
  int n = 0;
  for (int i = 0; i < g.size(); ++i) n += g.info(i).name == name;
  return n;
}

/// The same in the graph of a compiled program.
template <class Program>
  requires requires { Program::graph::view; }
[[nodiscard]] constexpr int count_of(const Program&, std::string_view name) {
  return count_of(Program::graph::view, name);
}

/// The first node of an operation, or `no_node`.
[[nodiscard]] constexpr ir::node_id find(const ir::graph_view& g, std::string_view name) {
  for (int i = 0; i < g.size(); ++i)
    if (g.info(i).name == name) return i;
  return ir::no_node;
}

}  // namespace tagma::test
