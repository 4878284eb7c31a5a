// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// From expressions to a flat graph: walks the records behind the handles once, each record one node however often it
/// is used, and replaces gradients and optimizers by the nodes that compute them.

#include "tagma/graph/pass/differentiate.hpp"

namespace tagma::ir {

/// Storage of a graph under construction and what became of it.
template <std::size_t Nodes, std::size_t Roots>
struct built_graph {
  graph_storage<Nodes> storage;
  int nodes = 0;
  int edges = 0;
  int attributes = 0;
  node_id roots[Roots > 0 ? Roots : 1]{};
  build_status status;
};

namespace detail {

/// Remembers the node of each record and the record of each name.
struct record_memo {
  array_view<const record*> records;
  array_view<node_id> nodes;  ///< one more than the node; 0 in an empty slot
  array_view<const record*> names;
  array_view<bool> named;

  [[nodiscard]] constexpr std::size_t slot(const record& r) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (records.size() - 1);
    while (nodes[i] != 0 && records[i] != &r) i = (i + 1) & (records.size() - 1);
    return i;
  }
  [[nodiscard]] constexpr node_id find(const record& r) const { return nodes[slot(r)] - 1; }
  constexpr void set(const record& r, node_id id) {
    const std::size_t i = slot(r);
    records[i] = &r;
    nodes[i] = id + 1;
  }
  /// The record that has this record's name, after noting the name if it is new.
  constexpr const record& owner_of_name(const record& r) {
    std::size_t i = static_cast<std::size_t>(hash_text(r.name)) & (names.size() - 1);
    while (named[i] && names[i]->name != r.name) i = (i + 1) & (names.size() - 1);
    if (!named[i]) names[i] = &r, named[i] = true;
    return *names[i];
  }
};
static_assert(no_node == -1);

constexpr node_id expand_optimizer(graph& g, const record& r, array_view<const node_id> inputs,
                                   const gradient_scratch& scratch, array_view<node_id> variables,
                                   array_view<node_id> gradients, array_view<variable_gradient> pairs,
                                   build_status& status) {
  std::size_t count = 0;
  const auto given = static_cast<std::size_t>(r.attributes[0]);
  array_view<const node_id> rest = inputs.subspan(given == 0 ? 1 : 2 * given);
  if (given == 0) {
    const node_id loss = inputs[0];
    for (node_id i = 0; i < loss; ++i) {
      if (g.info(i).kind != op_kind::variable || g.attributes(i)[1] == 0) continue;
      if (count == variables.size()) {
        status.problem = build_problem::too_large;
        return 0;
      }
      variables[count] = i, gradients[count++] = no_node;
    }
    differentiate(g, loss, variables.first(count), gradients.first(count), scratch, status);
  } else {
    if (given > variables.size()) {
      status.problem = build_problem::too_large;
      return 0;
    }
    for (; count < given; ++count) variables[count] = inputs[2 * count], gradients[count] = inputs[2 * count + 1];
  }
  if (status.problem != build_problem::none) return 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (gradients[i] != no_node) pairs[kept++] = {variables[i], gradients[i]};
  if (kept == 0 && !g.overflow()) {
    status.problem = build_problem::nothing_to_train;
    return 0;
  }
  expand_args args{g, rest, r.attributes, {}, pairs.first(kept)};
  r.op->expand(args);
  return args.result;
}

}  // namespace detail

/// Builds the flat graph of the given records. Capacity is a template argument because the compiler wants arrays.
template <std::size_t Nodes, std::size_t Roots>
[[nodiscard]] constexpr built_graph<Nodes, Roots> build_graph(const fixed_array<const record*, Roots>& roots) {
  built_graph<Nodes, Roots> built;
  graph g = built.storage.view();
  const record* memo_records[4 * Nodes]{};
  const record* memo_names[2 * Nodes]{};
  node_id memo_nodes[4 * Nodes]{};
  bool memo_named[2 * Nodes]{};
  detail::record_memo memo{memo_records, memo_nodes, memo_names, memo_named};
  node_id adjoint[Nodes]{}, variables[Nodes / 2]{}, gradients[Nodes / 2]{};
  variable_gradient pairs[Nodes / 2]{};
  bool wanted[Nodes]{};
  const gradient_scratch scratch{adjoint, wanted};
  const record* stack[4 * Nodes]{};

  for (std::size_t root = 0; root < Roots; ++root) {
    std::size_t depth = 0;
    stack[depth++] = roots[root];
    while (depth > 0 && !g.overflow() && built.status.problem == build_problem::none) {
      const record& r = *stack[depth - 1];
      if (memo.find(r) != no_node) {
        --depth;
        continue;
      }
      const std::size_t before = depth;
      for (const auto& list : {r.controls, r.inputs})
        for (std::size_t i = list.size(); i-- > 0;)
          if (memo.find(*list[i]) == no_node) {
            if (depth == 4 * Nodes) {
              built.status.problem = build_problem::too_large;
              return built;
            }
            stack[depth++] = list[i];
          }
      if (depth != before) continue;
      --depth;

      scratch_array<node_id, 8> inputs(r.inputs.size()), controls(r.controls.size());
      for (std::size_t i = 0; i < r.inputs.size(); ++i) inputs[i] = memo.find(*r.inputs[i]);
      for (std::size_t i = 0; i < r.controls.size(); ++i) controls[i] = memo.find(*r.controls[i]);
      const array_view<const node_id> in = inputs.view(), after = controls.view();
      node_id id = 0;
      switch (r.op->info->kind) {
        case op_kind::gradient: {
          node_id result = no_node;
          differentiate(g, in[0], in.subspan(1, 1), {&result, 1}, scratch, built.status);
          if (result == no_node && built.status.problem == build_problem::none && !g.overflow())
            built.status = {build_problem::independent, nullptr, r.inputs[0]->spec, r.inputs[1]->spec};
          id = result == no_node ? 0 : result;
          break;
        }
        case op_kind::optimizer:
          id = detail::expand_optimizer(g, r, in, scratch, variables, gradients, pairs, built.status);
          break;
        case op_kind::placeholder:
        case op_kind::variable: {
          const record& owner = memo.owner_of_name(r);
          if (&owner != &r && !(owner.spec == r.spec && owner.op == r.op))
            built.status = {build_problem::name_clash, r.op->info, owner.spec, r.spec};
          [[fallthrough]];
        }
        default:
          if (r.op->fold != nullptr && after.empty() && r.device.empty())
            id = g.emit(*r.op, in, r.attributes);
          else
            id = g.emit_as(*r.op, r.spec, in, r.attributes, {after, r.name, {}, r.key, r.device});
      }
      memo.set(r, id);
    }
    built.roots[root] = memo.find(*roots[root]);
  }
  if (g.overflow()) built.status = {build_problem::too_large, nullptr, {}, {}};
  built.nodes = g.size();
  built.edges = g.edge_count();
  built.attributes = g.attribute_count();
  return built;
}

/// A finished flat graph, exactly as large as it must be.
template <std::size_t Nodes, std::size_t Edges, std::size_t Attributes, std::size_t Roots>
struct flat_graph {
  fixed_array<node, Nodes> nodes{};
  fixed_array<node_id, Edges> edges{};
  fixed_array<attribute, Attributes> attributes{};
  fixed_array<node_id, Roots> roots{};
};

/// A view of a finished graph; what passes read.
struct graph_view {
  array_view<const node> nodes;
  array_view<const node_id> edges;
  array_view<const attribute> attribute_pool;
  array_view<const node_id> roots;

  [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] constexpr const node& operator[](node_id id) const { return nodes[id]; }
  [[nodiscard]] constexpr const op_info& info(node_id id) const { return *(*this)[id].op->info; }
  [[nodiscard]] constexpr array_view<const node_id> inputs(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(static_cast<std::size_t>(n.first_edge), static_cast<std::size_t>(n.inputs));
  }
  [[nodiscard]] constexpr array_view<const node_id> controls(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(static_cast<std::size_t>(n.first_edge + n.inputs), static_cast<std::size_t>(n.controls));
  }
  [[nodiscard]] constexpr attribute_list attributes(node_id id) const {
    const node& n = (*this)[id];
    return attribute_pool.subspan(static_cast<std::size_t>(n.first_attribute),
                                  static_cast<std::size_t>(n.attribute_count));
  }
};

/// Copies the used part of a built graph.
template <std::size_t N, std::size_t E, std::size_t A, std::size_t Capacity, std::size_t Roots>
[[nodiscard]] constexpr flat_graph<N, E, A, Roots> trim(const built_graph<Capacity, Roots>& built) {
  flat_graph<N, E, A, Roots> flat;
  for (std::size_t i = 0; i < N; ++i) flat.nodes[i] = built.storage.nodes[i];
  for (std::size_t i = 0; i < E; ++i) flat.edges[i] = built.storage.edges[i];
  for (std::size_t i = 0; i < A; ++i) flat.attributes[i] = built.storage.attributes[i];
  for (std::size_t i = 0; i < Roots; ++i) flat.roots[i] = built.roots[i];
  return flat;
}

}  // namespace tagma::ir
