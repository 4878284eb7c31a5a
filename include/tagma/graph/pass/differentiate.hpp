// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reverse-mode differentiation, from graph to graph: adds the nodes that compute the gradients of one node by others.
/// Gradients are ordinary nodes, so they can be differentiated again. Linear in nodes and edges.

#include "tagma/expr/op/reduce.hpp"

namespace tagma::ir {

/// What can go wrong while a graph is built; the program turns it into a sentence.
enum class build_problem : std::uint8_t {
  none,
  name_clash,      ///< one name, two types; `text` is the name
  two_beginnings,  ///< one name and type, two initializers
  no_gradient,
  independent,
  nothing_to_train,
  too_large,
  malformed_device,  ///< a device function returned a text that names no device
  oversized,         ///< a tensor has more bytes than can be addressed
};

struct record;

/// A problem and the things it is about.
struct build_status {
  build_problem problem = build_problem::none;
  const op_info* op = nullptr;
  tensor_spec first;
  tensor_spec second;
  std::string_view text{};
  const record *one = nullptr, *other = nullptr;  ///< the variables of one name

  [[nodiscard]] constexpr bool good() const { return problem == build_problem::none; }
};

/// Scratch space of `differentiate`, as large as the graph may become.
struct gradient_scratch {
  array_view<node_id> adjoint;
  array_view<bool> wanted;
};

/// Adds the gradients of the sum of `y` by each node of `xs`; `result[i]` is left at `no_node` where `y` does not
/// depend on `xs[i]`.
/// @tparam Graph ir::graph: a template costs nothing where no gradient is formed
template <class Graph>
constexpr void differentiate(Graph& g, node_id y, array_view<const node_id> xs, array_view<node_id> result,
                             const gradient_scratch& scratch, build_status& status) {
  node_id* const adjoint = scratch.adjoint.data();
  bool* const wanted = scratch.wanted.data();
  for (node_id i = 0; i <= y; ++i) adjoint[i] = no_node, wanted[i] = false;
  for (const node_id x : xs)
    if (x <= y) wanted[x] = true;
  for (node_id i = 0; i <= y; ++i) {
    const node& n = g[i];
    if (n.op->stops_gradient || !is_floating(n.spec.type)) continue;
    const node_id* const in = g.inputs(i).data();
    for (int k = 0; k < n.inputs && !wanted[i]; ++k)
      if (wanted[in[k]]) wanted[i] = !n.op->info->ignores_elements(k);
  }
  if (!wanted[y]) return;

  node_id seed = emit_constant(g, g.spec(y).type, 1);
  if (g.spec(y).dims.rank > 0) {
    const node_id pair[] = {seed, y};
    seed = g.emit_op(op::broadcast_like{}, pair);
  }
  adjoint[y] = seed;

  for (node_id i = y; i >= 0 && !g.overflow(); --i) {
    const node_id upstream = adjoint[i];
    if (upstream == no_node || g[i].op->stops_gradient) continue;
    const int count = g[i].inputs;
    const op_rules& op = *g[i].op;
    const node_id* const inputs = g.inputs(i).data();
    bool flows = false;
    for (int k = 0; k < count && !flows; ++k) flows = wanted[inputs[k]] && !op.info->ignores_elements(k);
    if (!flows) continue;
    if (op.gradient == nullptr) {
      status = {build_problem::no_gradient, op.info, g.spec(i), {}};
      return;
    }
    scratch_array<node_id, 4> room(count);
    node_id* const parts = room.data();
    for (int k = 0; k < count; ++k) parts[k] = no_node;
    g.follow(i);
    gradient_args args{{g}, i, upstream, room.view()};
    op.gradient(args);
    const bool broadcasts = op.info->is(op_kind::elementwise);
    for (int k = 0; k < count; ++k) {
      const node_id in = inputs[k];
      node_id part = parts[k];
      if (part == no_node || !wanted[in]) continue;
      if (broadcasts) part = op::unbroadcast(g, part, g.spec(in).dims);
      node_id& sum = adjoint[in];
      if (sum == no_node) {
        sum = part;
      } else {
        const node_id pair[] = {sum, part};
        sum = g.emit_op(op::add{}, pair);
      }
    }
  }
  g.follow(no_node);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i] <= y) result[i] = adjoint[xs[i]];
}

}  // namespace tagma::ir
