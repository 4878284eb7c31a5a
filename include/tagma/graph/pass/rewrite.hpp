// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes that rewrite a finished graph. The graph is copied node by node, operands first; a pass sees each node where
/// it is copied, may add nodes behind it, and says which node stands for it from then on.

#include "tagma/graph/build.hpp"
#include "tagma/graph/pass/copy_loops.hpp"

namespace tagma::ir {

namespace detail {

/// Notes the variables that an update writes.
/// @param nodes,edges of a graph; @param update a node of it
constexpr void note_updated(const node* nodes, const node_id* edges, const node& update, bool* updated) {
  const node_id* const in = edges + update.first_edge;
  for (int k = 0; k < update.inputs; ++k) {
    node_id written = in[k];
    if (k > 0 && nodes[written].suffix.empty()) continue;
    while (nodes[written].op->info->shares_bytes()) written = edges[nodes[written].first_edge];
    updated[written] = true;
  }
}
/// True if a node has the same value in all runs until somebody assigns a variable, in the same place: extents that a
/// kernel finds are found in each run, and decide where things are.
/// @param frozen of the nodes before it
template <class Graph>
[[nodiscard]] constexpr bool is_frozen(const Graph& g, node_id id, const bool* updated, const bool* frozen) {
  const op_info& op = g.info(id);
  if (op.is(op_kind::variable)) return !updated[id];
  bool all = g[id].controls == 0 && g[id].colocated == 0 && !op.stateful && !op.late && !op.is(op_kind::placeholder) &&
             !op.is(op_kind::resource) && !op.is(op_kind::update) && !op.is(op_kind::control);
  for (const node_id in : g.inputs(id)) all = all && frozen[in];
  return all;
}

}  // namespace detail

/// For each node of a finished graph, whether it is done once in a run and has the same value in all runs until
/// somebody assigns a variable.
template <std::size_t N>
[[nodiscard]] constexpr fixed_array<bool, N> find_frozen(const graph_view& g) {
  fixed_array<bool, N> updated{}, frozen{};
  if constexpr (N == heap_room) make_room(g.nodes.size(), updated, frozen);
  for (node_id i = 0; i < g.size(); ++i)
    if (g.info(i).is(op_kind::update)) detail::note_updated(g.nodes.data(), g.edges.data(), g[i], updated.data());
  for (node_id i = 0; i < g.size(); ++i)
    frozen[i] = (g.loop_of.empty() || g.loop_of[i] < 0) && detail::is_frozen(g, i, updated.data(), frozen.data());
  return frozen;
}

/// What a pass sees: the part of the graph that is copied so far, and the node that was copied last. Nodes are numbered
/// as in the copy.
///
/// `visit` is called for each node that computes its value from others and does nothing else: not for what has a name,
/// a state or an effect (variables, placeholders, updates, random numbers, resources), for operations with several
/// results, nor for what waits (`after`) or is bound to a device (`colocate_with`), nor for what a loop consists of
/// beside the operations of its body. All of these are seen as operands.
class rewriter {
 public:
  /// The node that is visited.
  [[nodiscard]] constexpr node_id self() const { return self_; }
  [[nodiscard]] constexpr node_id in(int i) const { return g_.input(self_, i); }

  /// True if the node is of operation `Op`, and waits for nothing but its operands.
  template <class Op>
  [[nodiscard]] constexpr bool is(node_id id) const {
    return info(id).key == &key<Op> && is_plain(id);
  }
  template <class Op>
  [[nodiscard]] constexpr bool is() const {
    return is<Op>(self_);
  }
  [[nodiscard]] constexpr const op_info& info(node_id id) const { return g_.info(id); }
  [[nodiscard]] constexpr const tensor_spec& spec(node_id id) const { return g_.spec(id); }
  [[nodiscard]] constexpr int rank(node_id id) const { return g_.spec(id).dims.rank; }
  [[nodiscard]] constexpr std::string_view name(node_id id) const { return g_[id].name; }
  [[nodiscard]] constexpr array_view<const node_id> inputs(node_id id) const { return g_.inputs(id); }
  [[nodiscard]] constexpr node_id input(node_id id, int i) const { return g_.input(id, i); }
  [[nodiscard]] constexpr attribute_list attributes(node_id id) const { return g_.attributes(id); }
  /// The value of a node if it is a scalar that the compiler knows.
  [[nodiscard]] constexpr constant_value constant(node_id id) const { return constant_of(g_, id); }
  /// How often the graph before this pass read the node: as an operand, to wait for it, or as an output of the program.
  [[nodiscard]] constexpr int readers(node_id id) const { return readers_[id]; }
  /// True if the value is the same in all runs until somebody assigns a variable: it depends on numbers and on
  /// variables that no update of the program writes, on nothing else, and on no extents that a kernel finds.
  [[nodiscard]] constexpr bool is_frozen(node_id id) { return look_at(id), frozen_[id]; }
  /// The same of a value of the body of a loop, in each iteration by itself: it depends on what loops that are around
  /// it go over, such as variables of repeated blocks, but on nothing that they carry.
  [[nodiscard]] constexpr bool is_frozen_by_turns(node_id id) { return look_at(id), by_turns_[id]; }

  /// A node of an operation over nodes that are there, or the equal one: `emit(op::add{}, a, b)`. It is asked for where
  /// the visited node is. It reads variables as they are before the updates of the run, unless an operand depends on
  /// an update. Raises TAGMA-E211 if the operation does not take these operands, and TAGMA-E271 if one of them is a
  /// value of the body of a loop that the visited node is not part of.
  template <class Op, class... Node>
  constexpr node_id emit(Op what, Node... inputs) {
    return emit_with(what, {}, inputs...);
  }
  template <class Op, class... Node>
  constexpr node_id emit_with(Op what, attribute_list attributes, Node... inputs) {
    const node_id ids[] = {inputs...};
    return emit_over(what, {ids, sizeof...(Node)}, attributes);
  }
  /// Defined in graph/pass/emit.hpp, which comes with <tagma/passes.hpp>.
  template <class Op>
  constexpr node_id emit_over(Op, array_view<const node_id> inputs, attribute_list attributes);
  /// The visited node over other operands of the same types. Raises as `emit`.
  constexpr node_id copy_with(array_view<const node_id> inputs) {
    if (g_.overflow() || !status_.good()) return self_;
    const node n = g_[self_];
    if (inputs.size() != static_cast<std::size_t>(n.inputs)) return misfit(*n.op);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_like(inputs[k], in(static_cast<int>(k)))) return misfit(*n.op);
      if (!reaches(inputs[k])) return out_of_body();
    }
    node_extras extras;
    extras.request = n.request;
    return g_.emit_as(*n.op, n.spec, inputs, g_.attributes(self_), extras);
  }
  /// A scalar that the compiler knows.
  constexpr node_id number(dtype type, double value) { return emit_constant(g_, type, value); }

  /// Whoever reads the visited node reads `id` instead. Raises TAGMA-E210 if its type or shape is another one,
  /// TAGMA-E211 if it is no tensor (several results, a thing of a container), and TAGMA-E271 if it is a value of the
  /// body of a loop that the visited node is not part of.
  constexpr void replace(node_id id) {
    if (!status_.good()) return;
    if (id < 0 || id >= g_.size() || !is_value(info(id)))
      status_ = {build_problem::misfit, &info(self_), spec(self_), {}};
    else if (!(spec(id) == spec(self_)))
      status_ = {build_problem::other_spec, &info(self_), spec(self_), spec(id)};
    else if (!reaches(id))
      out_of_body();
    else
      stand_in_ = id;
  }

  /// What the engine gives; an entry for each node that the copy has room for.
  struct tables {
    array_view<int> readers;
    array_view<bool> frozen;
    array_view<bool> by_turns;
    array_view<bool> updated;
    const loop_table* loops = nullptr;
  };
  constexpr rewriter(graph& g, build_status& status, const tables& of_nodes)
      : g_(g),
        status_(status),
        readers_(of_nodes.readers.data()),
        frozen_(of_nodes.frozen.data()),
        by_turns_(of_nodes.by_turns.data()),
        updated_(of_nodes.updated.data()),
        loops_(of_nodes.loops) {}

  /// Lets `pass` visit a node that was copied, and returns the one that stands for it.
  constexpr node_id visit(node_id id, void (*pass)(rewriter&)) {
    self_ = stand_in_ = id;
    if (g_.overflow() || !status_.good() || !is_visited(id)) return id;
    pass(*this);
    return stand_in_;
  }
  constexpr void add_readers(node_id id, int count) { readers_[id] += count; }
  /// A variable that an update writes.
  constexpr void set_updated(node_id variable) { updated_[variable] = true; }

 private:
  [[nodiscard]] constexpr bool is_plain(node_id id) const { return g_[id].controls == 0 && g_[id].colocated == 0; }
  [[nodiscard]] constexpr bool is_visited(node_id id) const {
    const op_info& op = info(id);
    return is_plain(id) && !op.stateful && !op.unasked && op.outputs == 0 &&
           (op.is(op_kind::compute) || op.is(op_kind::elementwise) || op.is(op_kind::view) || op.is(op_kind::output));
  }

  /// True if what reads such a node reads a tensor: it is no thing of a container, head of a loop, nor several results.
  [[nodiscard]] static constexpr bool is_value(const op_info& of) {
    return of.outputs == 0 && !of.is(op_kind::loop) && !of.is(op_kind::resource);
  }
  /// True if a node may be read where another one was.
  [[nodiscard]] constexpr bool is_like(node_id id, node_id before) const {
    return id >= 0 && id < g_.size() && spec(id) == spec(before) &&
           (g_[id].op == g_[before].op || (is_value(info(id)) && is_value(info(before))));
  }

  /// @param takes whether the operation takes operands and attributes
  constexpr node_id emit_of(const op_rules& op, bool (*takes)(infer_args& args), array_view<const node_id> inputs,
                            attribute_list attributes) {
    if (g_.overflow() || !status_.good()) return self_;
    scratch_array<tensor_spec, 3> in(inputs.size());
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] < 0 || inputs[k] >= g_.size() || !is_value(info(inputs[k]))) return misfit(op);
      if (!reaches(inputs[k])) return out_of_body();
      in[k] = spec(inputs[k]);
    }
    infer_args args{in.view(), attributes, {}};
    if (op.info->stateful || op.info->unasked || op.info->outputs > 0 || op.info->is(op_kind::update) ||
        op.expand != nullptr || !takes(args))
      return misfit(op);
    node_extras extras;
    extras.request = g_[self_].request;
    return g_.emit_plain(op, inputs, attributes, extras);
  }
  /// True if a node sees the iterations of no loop but those that the visited one sees.
  [[nodiscard]] constexpr bool reaches(node_id id) const {
    return loops_ == nullptr || (loops_->mask_of(id) & ~loops_->mask_of(self_)) == 0;
  }
  constexpr node_id out_of_body() {
    status_ = {build_problem::out_of_body, &info(self_), spec(self_), {}};
    return self_;
  }
  constexpr node_id misfit(const op_rules& op) {
    status_ = {build_problem::misfit, op.info, spec(self_), {}};
    return self_;
  }

  /// Finds out of all nodes up to `id` whether they are frozen.
  constexpr void look_at(node_id id) {
    for (; known_ <= id; ++known_) {
      frozen_[known_] = by_turns_[known_] = detail::is_frozen(g_, known_, updated_, frozen_);
      if (loops_ == nullptr || frozen_[known_]) continue;
      const op_rules* const op = g_[known_].op;
      by_turns_[known_] = op->info->is(op_kind::loop) ||
                          (op != &rules<loop_carried> && !op->info->is(op_kind::iterations) &&
                           op != &rules<loop_result> && detail::is_frozen(g_, known_, updated_, by_turns_));
    }
  }

  graph& g_;
  build_status& status_;
  int* readers_;
  bool* frozen_;
  bool* by_turns_;
  bool* updated_;
  const loop_table* loops_;
  node_id known_ = 0;
  node_id self_ = 0;
  node_id stand_in_ = 0;
};

/// Copies a graph, without nodes that nobody reads, while `pass` rewrites it.
/// @tparam Nodes room for the copy and for what the pass adds
/// @param pass what visits each node; nullptr: nobody
/// @param room for so many nodes, a power of two, where the graph is on the heap
template <std::size_t Nodes, std::size_t From, std::size_t Roots, bool Scoped, bool Looped>
[[nodiscard]] constexpr built_graph<Nodes, Roots, Scoped, Looped> rewrite(
    const built_graph<From, Roots, Scoped, Looped>& before, void (*pass)(rewriter&),
    [[maybe_unused]] std::size_t room = Nodes) {
  built_graph<Nodes, Roots, Scoped, Looped> built;
  if constexpr (Nodes == heap_room) built.allocate(room, before.roots.size());
  built.status = before.status;
  if (!built.status.good()) return built;
  const node* const nodes = before.storage.nodes.data();
  const node_id* const edges = before.storage.edges.data();
  const int count = before.nodes;
  graph g = built.storage.view();
  scratch_array<node_id, 1> moved_to(count);
  node_id* const moved = moved_to.data();
  detail::loop_copier<Looped, built_graph<From, Roots, Scoped, Looped>> loops(before, g, moved, built.room());
  const auto is_named = [&](const node& n) {
    const op_info& op = *n.op->info;
    return op.is(op_kind::variable) || op.is(op_kind::placeholder) || op.is(op_kind::resource);
  };

  // Who is read, and which variables are written.
  scratch_array<int, 1> read_of(count);
  scratch_array<bool, 1> updated_of(count), seen_of(count);
  int* const read = read_of.data();
  bool *const updated = updated_of.data(), *const seen = seen_of.data();
  for (const node_id root : before.roots) ++read[root];
  do {
    for (node_id i = count; i-- > 0;) {
      const node& n = nodes[i];
      if (seen[i] || (read[i] == 0 && !is_named(n))) continue;
      seen[i] = true;
      const node_id* const in = edges + n.first_edge;
      for (int k = 0; k < n.inputs + n.controls + n.colocated; ++k) ++read[in[k]];
      if (n.op->info->is(op_kind::update)) detail::note_updated(nodes, edges, n, updated);
    }
  } while (loops.read_next_values(read, seen));

  scratch_array<int, 1> readers(built.room());
  scratch_array<bool, 1> frozen(built.room()), by_turns(built.room()), updated_here(built.room());
  rewriter r{g, built.status, {readers.view(), frozen.view(), by_turns.view(), updated_here.view(), loops.table()}};
  scratch_array<node_id, 16> list(before.edges);
  for (node_id i = 0; i < count && built.status.good() && !g.overflow(); ++i) {
    if (!seen[i]) continue;
    const node& n = nodes[i];
    const node_id* const in = edges + n.first_edge;
    const int all = n.inputs + n.controls + n.colocated;
    for (int k = 0; k < all; ++k) list[k] = moved[in[k]];
    loops.choose_operands(i, list.data());
    const array_view<const node_id> to(list.data(), static_cast<std::size_t>(all));
    const node_extras extras{to.subspan(n.inputs, n.controls),
                             n.name,
                             n.suffix,
                             n.value,
                             n.request,
                             to.subspan(n.inputs + n.controls, n.colocated)};
    node_id id = g.emit_as(
        *n.op, n.spec, to.first(static_cast<std::size_t>(n.inputs)),
        {before.storage.attributes.data() + n.first_attribute, static_cast<std::size_t>(n.attribute_count)}, extras);
    if (g.overflow()) break;
    loops.note(i, id);
    if (updated[i]) r.set_updated(id);
    r.add_readers(id, read[i]);
    if (pass != nullptr) {
      const node_id stand_in = r.visit(id, pass);
      if (stand_in != id) r.add_readers(stand_in, read[i]);
      id = stand_in;
    }
    moved[i] = id;
  }
  loops.choose_next_values(seen);
  if (g.overflow()) built.status = {build_problem::too_large, nullptr, {}, {}, {}};
  if (!built.status.good()) return built;
  built.nodes = g.size();
  built.edges = g.edge_count();
  built.attributes = g.attribute_count();
  for (std::size_t i = 0; i < before.roots.size(); ++i) built.roots[i] = moved[before.roots[i]];
  built.request_count = before.request_count;
  for (int i = 0; i < before.request_count; ++i) built.requests[i] = before.requests[i];
  loops.finish(built);
  return built;
}

}  // namespace tagma::ir
