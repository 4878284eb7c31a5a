// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The finished flat graph: tables as large as they must be, and the view of them that passes read.

#include "tagma/ir/loops.hpp"
#include "tagma/place/device.hpp"

namespace tagma::ir {

/// A finished flat graph, exactly as large as it must be.
template <std::size_t Nodes, std::size_t Edges, std::size_t Attributes, std::size_t Roots, std::size_t Requests = 0,
          std::size_t Loops = 0, std::size_t BackEdges = 0>
struct flat_graph {
  fixed_array<node, Nodes> nodes{};
  fixed_array<node_id, Edges> edges{};
  fixed_array<attribute, Attributes> attributes{};
  fixed_array<node_id, Roots> roots{};
  fixed_array<device_spec, Requests> requests{};  ///< what device scopes ask for; the first two ask for nothing
  fixed_array<loop_info, Loops> loops{};
  fixed_array<back_edge, BackEdges> back_edges{};
  fixed_array<std::int16_t, Loops == 0 ? 0 : Nodes> loop_of{};
};

/// A view of a finished graph; what passes read.
struct graph_view {
  array_view<const node> nodes;
  array_view<const node_id> edges;
  array_view<const attribute> attribute_pool;
  array_view<const node_id> roots;
  array_view<const device_spec> requests{};
  array_view<const loop_info> loops{};
  array_view<const back_edge> back_edges{};
  array_view<const std::int16_t> loop_of{};  ///< the innermost loop of each node, or -1; empty if there are no loops
  array_view<const std::int32_t> numbers{};  ///< of a part: of each node its position in the whole graph, or -1

  /// True if two nodes are done equally often.
  [[nodiscard]] constexpr bool share_iterations(node_id a, node_id b) const {
    return loop_of.empty() || loop_of[a] == loop_of[b];
  }
  [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] constexpr const node& operator[](node_id id) const { return nodes[id]; }
  [[nodiscard]] constexpr const op_info& info(node_id id) const { return *(*this)[id].op->info; }
  [[nodiscard]] constexpr array_view<const node_id> inputs(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge, n.inputs);
  }
  [[nodiscard]] constexpr array_view<const node_id> controls(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge + n.inputs, n.controls);
  }
  /// The nodes on whose devices `id` shall run.
  [[nodiscard]] constexpr array_view<const node_id> colocated(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge + n.inputs + n.controls, n.colocated);
  }
  /// What is asked for a node; empty if nothing is.
  [[nodiscard]] constexpr device_spec request(node_id id) const {
    return (*this)[id].request == 0 ? device_spec{} : requests[(*this)[id].request];
  }
  [[nodiscard]] constexpr attribute_list attributes(node_id id) const {
    const node& n = (*this)[id];
    return attribute_pool.subspan(n.first_attribute, n.attribute_count);
  }
  /// True for the head of a loop of which only elements tell how often it is done.
  [[nodiscard]] constexpr bool ends_by_value(node_id id) const {
    return info(id).is(op_kind::loop) && (*this)[id].op != &rules<loop_head>;
  }
  /// True for the carried value that tells whether a loop goes on.
  [[nodiscard]] constexpr bool is_condition(node_id carried) const {
    return (*this)[inputs(carried)[0]].op == &rules<while_head> && attributes(carried)[0] == 0;
  }
};

/// A hash of a finished graph: operations, types, shapes, names, edges, requests, outputs. Equal in every process and
/// with every compiler.
[[nodiscard]] constexpr std::uint64_t fingerprint(const graph_view& g) {
  std::uint64_t h = hash_text("tagma");
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g[i];
    h = hash_combine(hash_combine(h, n.op->info->id), static_cast<std::uint64_t>(n.spec.type));
    // Lists are told apart by their lengths.
    const int lengths[] = {n.spec.dims.rank, n.inputs, n.controls, n.attribute_count, n.colocated};
    for (const int length : lengths) h = hash_combine(h, static_cast<std::uint64_t>(length));
    for (const extent e : n.spec.dims.span()) h = hash_combine(h, static_cast<std::uint64_t>(e));
    for (const auto in : g.inputs(i)) h = hash_combine(h, static_cast<std::uint64_t>(in));
    for (const auto in : g.controls(i)) h = hash_combine(h, static_cast<std::uint64_t>(in));
    for (const auto a : g.attributes(i)) h = hash_combine(h, static_cast<std::uint64_t>(a));
    const std::uint64_t asked = n.request == 0 ? hash_text({}) : hash_of(g.request(i));
    h = hash_combine(h, hash_text(n.name) ^ (31 * hash_text(n.suffix)) ^ (57 * asked));
    for (const auto at : g.colocated(i)) h = hash_combine(h, static_cast<std::uint64_t>(at));
  }
  for (const node_id root : g.roots) h = hash_combine(h, static_cast<std::uint64_t>(root));
  return h;
}

}  // namespace tagma::ir
