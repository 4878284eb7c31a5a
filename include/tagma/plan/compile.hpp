// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// From a flat graph and a set of fetches to a plan: prune, fuse, schedule, write tables, assign storage.

#include "tagma/base/config.hpp"
#include "tagma/ir/loops.hpp"
#include "tagma/plan/memory.hpp"
#include "tagma/plan/schedule.hpp"

namespace tagma::plan {

/// A tensor that a fused loop reads.
struct loop_load {
  node_id node = 0;  ///< in the plan
  dtype type = dtype::none;
  bool contiguous = true;  ///< consecutive elements along the innermost joined axis, or one element for all of it
};

/// Results of all nodes that have several: operands of their steps as well.
[[nodiscard]] constexpr std::size_t output_count(const ir::graph_view& g) {
  std::size_t count = 0;
  const ir::node* const nodes = g.nodes.data();
  for (int i = 0; i < g.size(); ++i) count += static_cast<std::size_t>(nodes[i].op->info->outputs);
  return count;
}

/// One operation of a fused loop; operands count loads first, then earlier operations.
struct loop_operation {
  const ir::op_info* op = nullptr;
  dtype type = dtype::none;
  std::int16_t operand[3]{};
};

/// Sizes of the tables of a plan.
struct plan_sizes {
  std::int32_t nodes = 0, inputs = 0, attributes = 0, steps = 0, operands = 0, blocks = 0, operations = 0;
};

/// Room for the largest possible plan of a graph.
struct plan_room {
  std::size_t nodes = 0, edges = 0, attributes = 0, fetches = 0;
};
/// @param fetches how many
[[nodiscard]] constexpr plan_room room_for(const ir::graph_view& g, std::size_t fetches) {
  return {g.nodes.size(), g.edges.size() + g.nodes.size() + output_count(g), g.attribute_pool.size(), fetches};
}

/// Tables with room for the largest possible plan of a graph.
template <std::size_t N, std::size_t E, std::size_t A, std::size_t F>
struct raw_plan {
  fixed_array<plan_node, N> nodes{};
  fixed_array<node_id, E> inputs{};
  fixed_array<attribute, A> attributes{};
  fixed_array<plan_step, N> steps{};
  fixed_array<node_id, E> operands{};
  /// Parallel to `operands`, for fused steps. Behind a kernel, the place of its last input is that of its result.
  fixed_array<loop_load, E> loads{};
  fixed_array<loop_operation, N> operations{};
  fixed_array<std::int32_t, N> first_operation{};  ///< of each step
  fixed_array<std::int32_t, N> operation_count{};
  fixed_array<plan_block, N> blocks{};
  fixed_array<node_id, F> fetches{};
  fixed_array<std::int32_t, F> fetch_steps{};
  plan_sizes sizes;
  int feeds = 0;
  bool writes_variables = false;
  bool contradictory = false;

  /// For tables on the heap. Throws `no_memory`.
  constexpr void allocate(const plan_room& room) {
    make_room(room.nodes, nodes, steps, operations, first_operation, operation_count, blocks);
    make_room(room.edges, inputs, operands, loads);
    make_room(room.attributes, attributes);
    make_room(room.fetches, fetches, fetch_steps);
  }
};

namespace detail {

/// True if consecutive elements of a loop's innermost joined axis are consecutive in this input. The joined axis is the
/// longest run of trailing axes along which every input is either stretched or not.
template <class Count, class Stretched>
TAGMA_COLD constexpr int innermost_axes(const shape& out, Count loads, Stretched stretched) {
  int joined = 0, first = -1;
  for (int axis = out.rank - 1; axis >= 0; --axis) {
    if (out[axis] == 1) {
      ++joined;
      continue;
    }
    if (first < 0) first = axis;
    for (Count l = 0; l < loads; ++l)
      if (stretched(l, axis) != stretched(l, first)) return joined;
    ++joined;
  }
  return joined;
}

/// True if an input of shape `in`, aligned at the last axis, is stretched along `axis` of `out`.
constexpr bool is_stretched(const shape& in, const shape& out, int axis) {
  const int own = axis - (out.rank - in.rank);
  return own < 0 || (in[own] == 1 && out[axis] != 1);
}

/// Room for the outputs of a step, behind its operands, and their types.
template <class Plan>
constexpr void add_outputs(Plan& p, plan_step& step, const ir::graph_view& g, node_id i) {
  const ir::op_info& info = g.info(i);
  const array_view<const node_id> from = g.inputs(i);
  scratch_array<tensor_spec, 8> in(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) in[k] = g[from[k]].spec;
  step.outputs = static_cast<std::int16_t>(info.outputs);
  for (int k = 0; k < info.outputs; ++k) {
    ir::infer_args args{in.view(), g.attributes(i), {}, k};
    if (const char* problem = info.infer(args)) throw problem;
    p.operands[p.sizes.operands] = ir::no_node;
    p.loads[p.sizes.operands++] = {ir::no_node, args.out.type, true};
  }
}
/// Where the bytes are of a node that no step computes.
[[nodiscard]] constexpr storage_kind storage_of(op_kind kind) {
  switch (kind) {
    case op_kind::placeholder:
      return storage_kind::feed;
    case op_kind::variable:
      return storage_kind::variable;
    case op_kind::resource:
      return storage_kind::resource;
    case op_kind::literal:
      return storage_kind::literal;
    case op_kind::constant:
      return storage_kind::constant;
    default:
      return storage_kind::none;
  }
}
/// Puts the outputs that a plan needs behind the operands of their steps.
template <class Plan>
constexpr void find_outputs(Plan& p) {
  for (node_id i = 0; i < p.sizes.nodes; ++i) {
    plan_node& n = p.nodes[i];
    if (!n.op->is(op_kind::output)) continue;
    n.step = p.nodes[p.inputs[n.first_input]].step;
    if (n.step < 0) continue;
    const plan_step& step = p.steps[n.step];
    p.operands[step.first_operand + step.operands + p.attributes[n.first_attribute]] = i;
  }
}

}  // namespace detail

/// Writes the tables of a plan: nodes, steps, loops. Transfers and storage are still missing.
/// @param device where each node of the graph runs, or nothing if there is only one device
template <std::size_t N, std::size_t E, std::size_t A, std::size_t F>
[[nodiscard]] constexpr raw_plan<N, E, A, F> write_tables(const graph_view& g, const fixed_array<node_id, F>& fetches,
                                                          const fixed_array<need, N>& needs,
                                                          const ir::fusion<N>& fusion, const schedule_result<N>& order,
                                                          array_view<const std::int16_t> device = {}) {
  raw_plan<N, E, A, F> p;
  if constexpr (N == heap_room) p.allocate(room_for(g, fetches.size()));
  p.contradictory = order.contradictory;
  if (p.contradictory) return p;
  const ir::node* const graph_nodes = g.nodes.data();
  plan_node* const nodes = p.nodes.data();
  plan_sizes& sizes = p.sizes;

  // Nodes, renumbered; a feed's slot is its rank among the placeholders of the program.
  fixed_array<node_id, N> renumbered_of{};
  if constexpr (N == heap_room) make_room(g.size(), renumbered_of);
  node_id* const renumbered = renumbered_of.data();
  node_id* const inputs = p.inputs.data();
  attribute* const attributes = p.attributes.data();
  fixed_array<std::int32_t, 8> ranks{};  // of the next placeholder, variable or resource, by its storage
  std::int32_t literals = 0;
  const int size = g.size();
  bool several = false;  // there are outputs of nodes that have several
  for (node_id i = 0; i < size; ++i) {
    const ir::node& n = graph_nodes[i];
    const ir::op_info& info = *n.op->info;
    const storage_kind storage = detail::storage_of(info.kind);
    const auto kind = static_cast<std::size_t>(storage);
    const std::int32_t slot = info.is_number() ? literals : kind == 0 ? 0 : ranks.values[kind]++;
    several = several || info.is(op_kind::output);
    const need wanted = needs.values[i];
    if (static_cast<int>(wanted) == 0) continue;
    renumbered[i] = sizes.nodes;
    plan_node& out = nodes[sizes.nodes++];
    out = {n.op->info,        n.spec,  sizes.inputs, sizes.attributes, i,        n.inputs,
           n.attribute_count, storage, slot,         n.name,           n.suffix, n.value};
    const node_id* const in = g.edges.data() + n.first_edge;
    for (int k = 0; k < n.inputs; ++k) inputs[sizes.inputs++] = renumbered[in[k]];
    if (n.controls > 0 && wants_value(wanted)) {
      for (int k = 0; k < n.controls; ++k) inputs[sizes.inputs++] = renumbered[in[n.inputs + k]];
      out.controls = n.controls;
    }
    for (const attribute a : g.attributes(i)) attributes[sizes.attributes++] = a;
    const bool fed = info.is(op_kind::placeholder);
    p.feeds += fed;
    literals += info.is_number();
    // Bytes are where they are written: those of a view with its input, those of a feed with the client.
    if (!device.empty() && info.is(op_kind::iterated) &&
        (n.op->info == &ir::info<ir::loop_element> || n.op->info == &ir::info<ir::loop_member>))
      out.device = nodes[inputs[out.first_input + 1]].device;
    else if (!device.empty() && !fed)
      out.device = info.shares_bytes() || info.is(op_kind::output) ? nodes[inputs[out.first_input]].device : device[i];
  }

  // Members of each loop, in order.
  const node_id* const group = fusion.group.data();
  fixed_array<bool, N> looped{};  // element-wise, and computed
  fixed_array<node_id, N> first_member_of{}, next_member_of{}, kernel_before{};
  if constexpr (N == heap_room) make_room(size, looped, first_member_of, next_member_of, kernel_before);
  node_id *const first_member = first_member_of.data(), *const next_member = next_member_of.data();
  for (node_id i = 0; i < size; ++i) first_member[i] = kernel_before.values[i] = ir::no_node;
  for (node_id i = size; i-- > 0;) {
    if (!wants_value(needs.values[i])) continue;
    const node_id root = group[i];
    if (graph_nodes[i].op->info->is(op_kind::elementwise)) {
      looped.values[i] = true;
      next_member[i] = first_member[root];
      first_member[root] = i;
    } else if (root != i) {
      kernel_before.values[root] = i;
    }
  }

  // Steps and their operands.
  node_id* const operands = p.operands.data();
  fixed_array<std::int16_t, N> position_of{};  // of a value inside the loop under construction
  fixed_array<node_id, N> position_owner_of{};
  if constexpr (N == heap_room) make_room(size, position_of, position_owner_of);
  std::int16_t* const position = position_of.data();
  node_id* const position_owner = position_owner_of.data();
  for (node_id i = 0; i < size; ++i) position_owner[i] = ir::no_node;
  for (int o = 0; o < order.count; ++o) {
    const node_id i = order.order.values[o];
    const ir::node& n = graph_nodes[i];
    const ir::op_info& info = *n.op->info;
    if (!info.has_step()) continue;
    p.writes_variables = p.writes_variables || info.is(op_kind::update);
    const std::int32_t s = sizes.steps++;
    plan_step& step = p.steps.values[s];
    step = {renumbered[i], sizes.operands, 0, info.is(op_kind::elementwise)};
    p.first_operation.values[s] = sizes.operations;
    if (!step.fused) {
      nodes[step.node].step = s;
      const node_id* const in = g.edges.data() + n.first_edge;
      for (int k = 0; k < n.inputs; ++k) operands[sizes.operands++] = renumbered[in[k]];
      step.operands = n.inputs;
      if (info.outputs > 0) detail::add_outputs(p, step, g, i);
      continue;
    }
    // First all loads, so that operations are numbered after them.
    std::int16_t loads = 0, inputs_before = 0;
    if (const node_id b = kernel_before.values[i]; b != ir::no_node) {
      step.before = renumbered[b];
      nodes[step.before].step = s;
      for (const node_id in : g.inputs(b)) operands[sizes.operands++] = renumbered[in];
      p.loads[sizes.operands - 1] = {b, g[b].spec.type, true};
      inputs_before = static_cast<std::int16_t>(g[b].inputs - 1);
      position_owner[b] = i;
      position[b] = loads++;
    }
    for (node_id m = first_member[i]; m != ir::no_node; m = next_member[m]) {
      const ir::node& member = graph_nodes[m];
      const node_id* const in = g.edges.data() + member.first_edge;
      for (int k = 0; k < member.inputs; ++k) {
        const node_id from = in[k];
        if (position_owner[from] == i || (group[from] == i && looped.values[from]) ||
            member.op->info->ignores_elements(k))
          continue;
        position_owner[from] = i;
        position[from] = loads++;
        operands[sizes.operands] = renumbered[from];
        p.loads.values[sizes.operands++] = {from, graph_nodes[from].spec.type, true};
      }
    }
    step.operands = static_cast<std::int16_t>(inputs_before + loads);
    loop_load* const load = p.loads.data() + step.first_operand + inputs_before;
    const shape& out = n.spec.dims;
    bool all_full = true;
    for (int l = 0; l < loads; ++l) all_full = all_full && graph_nodes[load[l].node].spec.dims == out;
    if (!all_full) {
      const auto stretched = [&](int l, int axis) {
        return detail::is_stretched(graph_nodes[load[l].node].spec.dims, out, axis);
      };
      const int joined = detail::innermost_axes(out, loads, stretched);
      for (int l = 0; l < loads; ++l) {
        bool contiguous = true;
        for (int axis = out.rank - joined; axis < out.rank; ++axis)
          if (out[axis] != 1 && stretched(l, axis)) contiguous = false;
        load[l].contiguous = contiguous;
      }
    }
    std::int16_t values = loads;
    for (node_id m = first_member[i]; m != ir::no_node; m = next_member[m]) {
      const ir::node& member = graph_nodes[m];
      const node_id* const in = g.edges.data() + member.first_edge;
      loop_operation& operation = p.operations.values[sizes.operations++];
      operation = {member.op->info, member.spec.type, {}};
      nodes[renumbered[m]].step = s;
      for (int k = 0; k < member.inputs; ++k)
        if (!member.op->info->ignores_elements(k)) operation.operand[k] = position[in[k]];
      position_owner[m] = i;
      position[m] = values++;
    }
    p.operation_count.values[s] = sizes.operations - p.first_operation.values[s];
    for (int l = 0; l < loads; ++l) load[l].node = renumbered[load[l].node];
  }

  if (several) detail::find_outputs(p);
  const auto versions = ir::find_versions<N>(g, needs);
  for (std::size_t f = 0; f < fetches.size(); ++f) {
    p.fetches[f] = renumbered[fetches[f]];
    p.fetch_steps[f] = p.sizes.steps;
    const node_id variable = versions.base_of(fetches[f]);
    const node_id update = variable == ir::no_node ? variable : versions.update_after(g, variable, fetches[f]);
    if (update != ir::no_node) p.fetch_steps[f] = nodes[renumbered[update]].step;
  }
  return p;
}

/// What `assign_storage` asks about loops: there are none.
struct no_loops {
  static constexpr bool any = false;
};

/// Gives every node of a plan its storage: a view shares that of its input, an update that of its variable; a loop may
/// write over a tensor that dies.
/// @param kept of the first so many steps, no result dies: the next run finds them
/// @param block_of with loops, written: the block of each node that stands for a block of rows
template <std::size_t N, std::size_t E, std::size_t A, std::size_t F, class Loops = no_loops>
[[nodiscard]] constexpr raw_plan<N, E, A, F> assign_storage(const raw_plan<N, E, A, F>& tables, std::int32_t kept = 0,
                                                            [[maybe_unused]] const Loops& loops = {},
                                                            [[maybe_unused]] std::int32_t* block_of = nullptr) {
  raw_plan<N, E, A, F> p = tables;
  if (p.contradictory) return p;
  plan_node* const nodes = p.nodes.data();
  const node_id* const operands = p.operands.data();
  const node_id count = p.sizes.nodes;
  const std::int32_t steps = p.sizes.steps;
  fixed_array<node_id, N> owner_of{};          // the node whose bytes a node shares
  fixed_array<std::int32_t, N> last_use_of{};  // of each owner, as a step
  fixed_array<node_id, N> block_holder_of{};   // the owner that a block serves now
  if constexpr (N == heap_room) make_room(p.nodes.size(), owner_of, last_use_of, block_holder_of);
  node_id* const owner = owner_of.data();
  std::int32_t* const last_use = last_use_of.data();
  for (node_id i = 0; i < count; ++i) {
    owner[i] = nodes[i].op->shares_bytes() ? owner[p.inputs.values[nodes[i].first_input]] : i;
    if constexpr (Loops::any) {
      if (nodes[i].op == &ir::info<ir::loop_element>) owner[i] = owner[p.inputs.values[nodes[i].first_input + 1]];
      if (const node_id o = loops.owner(i); o != ir::no_node) owner[i] = o;
    }
    last_use[i] = -1;
  }
  for (std::int32_t s = 0; s < steps; ++s) {
    const plan_step& step = p.steps.values[s];
    if constexpr (Loops::any) {
      const auto use = [&](node_id i) {
        if (i == ir::no_node) return;
        const std::int32_t last = loops.last_use(owner[i], s);
        if (last > last_use[owner[i]]) last_use[owner[i]] = last;
      };
      loops.read_in_front(s, use);
      for (int k = step.first_operand; k < step.first_operand + step.operands + step.outputs; ++k) use(operands[k]);
      use(step.node);
    } else {
      for (int k = step.first_operand; k < step.first_operand + step.operands; ++k) last_use[owner[operands[k]]] = s;
    }
  }
  for (const node_id f : p.fetches) last_use[owner[f]] = steps;
  for (std::int32_t s = 0; s < kept; ++s) {
    const plan_step& step = p.steps.values[s];
    last_use[owner[step.node]] = steps;
    for (int k = 0; k < step.outputs; ++k)
      if (const node_id out = operands[step.first_operand + step.operands + k]; out != ir::no_node)
        last_use[out] = steps;
  }
  node_id* const block_holder = block_holder_of.data();
  for (std::int32_t s = 0; s < steps; ++s) {
    const plan_step& step = p.steps.values[s];
    const node_id self = step.node;
    plan_node& n = nodes[self];
    if constexpr (Loops::any)
      loops.begin_with(s, [&](node_id i) {
        block_of[i] = p.sizes.blocks;
        block_holder[p.sizes.blocks] = i;
        p.blocks.values[p.sizes.blocks++] = {i, s, last_use[i], nodes[i].device};
      });
    if (n.op->is(op_kind::update)) continue;
    if constexpr (Loops::any)
      if (loops.owner(self) != ir::no_node) continue;
    if (step.outputs > 0) {
      for (std::int32_t k = step.first_operand + step.operands; k < step.first_operand + step.operands + step.outputs;
           ++k)
        if (const node_id out = operands[k]; out != ir::no_node) {
          if constexpr (Loops::any)
            if (loops.owner(out) != ir::no_node) continue;
          nodes[out].put(storage_kind::arena, p.sizes.blocks);
          block_holder[p.sizes.blocks] = out;
          p.blocks.values[p.sizes.blocks++] = {out, s, last_use[out] < s ? s : last_use[out], n.device};
        }
      continue;
    }
    n.put(storage_kind::arena, 0);
    const std::int32_t last = last_use[self] < s ? s : last_use[self];
    const node_id* const in = operands + step.first_operand;
    bool reused = false;
    for (int k = 0; k < step.operands && !reused && step.before == ir::no_node; ++k) {
      const node_id from = owner[in[k]];
      if (last_use[from] != s || (!step.fused && !n.op->writes_over(k))) continue;
      const plan_node& source = nodes[from];
      if (!source.is_in(storage_kind::arena) || block_holder[source.slot] != from) continue;
      if constexpr (Loops::any)
        if (loops.owner(from) != ir::no_node || !loops.share_iterations(from, s)) continue;
      bool fits = size_of(nodes[in[k]].spec.type) == size_of(n.spec.type);
      for (int j = 0; j < step.operands && fits; ++j)
        if (owner[in[j]] == from && !(nodes[in[j]].spec.dims == n.spec.dims)) fits = false;
      if (!fits) continue;
      n.slot = source.slot;
      p.blocks.values[n.slot].last = last;
      block_holder[n.slot] = self;
      reused = true;
    }
    if (!reused) {
      n.slot = p.sizes.blocks;
      block_holder[n.slot] = self;
      p.blocks.values[p.sizes.blocks++] = {self, s, last, n.device};
    }
  }
  for (node_id i = 0; i < count; ++i)
    if (owner[i] != i) {
      if constexpr (Loops::any)
        if (!nodes[i].op->shares_bytes()) continue;
      nodes[i].put(nodes[owner[i]].storage, nodes[owner[i]].slot);
    }
  return p;
}

}  // namespace tagma::plan
