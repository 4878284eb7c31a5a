// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The flat graph while it is being built: nodes in topological order, hash-consed, in storage that the caller
/// provides.

#include <initializer_list>

#include "tagma/base/config.hpp"
#include "tagma/base/scratch_array.hpp"
#include "tagma/ir/op.hpp"

namespace tagma::ir {

/// One node of a flat graph. Inputs and control dependencies are consecutive entries of the graph's edge list.
struct node {
  const op_rules* op = nullptr;
  tensor_spec spec;
  std::int32_t first_edge = 0;
  std::int16_t inputs = 0;
  std::int16_t controls = 0;
  std::int32_t first_attribute = 0;
  std::int16_t attribute_count = 0;
  std::string_view name;       ///< of a placeholder or variable; of a slot, the variable it belongs to
  std::string_view suffix;     ///< of a slot: "/adam_m"
  std::int32_t value = -1;     ///< the number of the run-time value that it takes, if it takes one
  std::int16_t request = 0;    ///< what its scopes ask for: a position in the list of requests, 0 if nothing
  std::int16_t colocated = 0;  ///< nodes on whose device it runs, listed behind its control dependencies
};

/// What device scopes ask for a node that a pass adds.
struct request_source {
  std::int16_t (*ask)(request_source& self, const op_info& op, const tensor_spec& spec,
                      std::string_view name) = nullptr;
};

class graph;
struct node_extras;

/// What a graph with loops asks of who knows them (ir/loops.hpp).
struct loop_observer {
  /// Emits a node, or one in its place.
  node_id (*emit)(loop_observer& self, graph& g, const op_rules& op, array_view<const node_id> inputs,
                  attribute_list attributes, const node_extras& extras) = nullptr;
  /// A node has been added.
  void (*added)(loop_observer& self, const graph& g, node_id id) = nullptr;
};

/// Everything `emit` takes beside the operation and its inputs.
struct node_extras {
  array_view<const node_id> controls{};
  std::string_view name{};
  std::string_view suffix{};
  std::int32_t value = -1;
  std::int16_t request = 0;
  array_view<const node_id> colocated{};
};

inline constexpr node_extras no_extras{};

/// A growing flat graph over borrowed arrays. Capacity is never exceeded: `overflow()` then asks for larger arrays.
class graph {
 public:
  /// @param buckets zeros, as many as a power of two
  constexpr graph(array_view<node> nodes, array_view<node_id> edges, array_view<attribute> attributes,
                  array_view<node_id> buckets)
      : nodes_(nodes.data()),
        edges_(edges.data()),
        attributes_(attributes.data()),
        buckets_(buckets.data()),
        node_room_(static_cast<int>(nodes.size())),
        edge_room_(static_cast<int>(edges.size())),
        attribute_room_(static_cast<int>(attributes.size())),
        bucket_mask_(buckets.size() - 1) {}

  [[nodiscard]] constexpr int size() const { return count_; }
  [[nodiscard]] constexpr int edge_count() const { return edge_count_; }
  [[nodiscard]] constexpr int attribute_count() const { return attribute_count_; }
  [[nodiscard]] constexpr bool overflow() const { return overflow_; }
  [[nodiscard]] constexpr const node& operator[](node_id id) const { return nodes_[id]; }
  [[nodiscard]] constexpr const tensor_spec& spec(node_id id) const { return nodes_[id].spec; }
  [[nodiscard]] constexpr const op_info& info(node_id id) const { return *nodes_[id].op->info; }
  [[nodiscard]] constexpr array_view<const node_id> inputs(node_id id) const {
    return {edges_ + nodes_[id].first_edge, nodes_[id].inputs};
  }
  [[nodiscard]] constexpr array_view<const node_id> controls(node_id id) const {
    const node& n = nodes_[id];
    return {edges_ + n.first_edge + n.inputs, n.controls};
  }
  [[nodiscard]] constexpr array_view<const node_id> colocated(node_id id) const {
    const node& n = nodes_[id];
    return {edges_ + n.first_edge + n.inputs + n.controls, n.colocated};
  }
  [[nodiscard]] constexpr node_id input(node_id id, int i) const { return edges_[nodes_[id].first_edge + i]; }
  /// Nodes that are emitted without a request are asked for by `source`, if there is one.
  constexpr void ask(request_source* source) { source_ = source; }
  /// From now on they follow node `id` instead, if that has a request: gradients are computed where their node is.
  constexpr void follow(node_id id) { followed_ = id; }
  /// From now on updates wait for these as well.
  constexpr void let_updates_wait(array_view<const node_id> before) { before_updates_ = before; }
  [[nodiscard]] constexpr array_view<const node_id> updates_wait_for() const { return before_updates_; }
  /// From now on every node is told to `loops`.
  constexpr void observe(loop_observer* loops) { loops_ = loops; }
  /// Changes what is asked for a node.
  constexpr void set_request(node_id id, std::int16_t request) { nodes_[id].request = request; }
  [[nodiscard]] constexpr attribute_list attributes(node_id id) const {
    return {attributes_ + nodes_[id].first_attribute, nodes_[id].attribute_count};
  }

  /// Adds a node, or returns the equal node that is already there. The spec is inferred from the inputs.
  constexpr node_id emit(const op_rules& op, array_view<const node_id> inputs, attribute_list attributes = {},
                         const node_extras& extras = no_extras) {
    if (overflow_) return 0;
    if (loops_ != nullptr) return loops_->emit(*loops_, *this, op, inputs, attributes, extras);
    return emit_plain(op, inputs, attributes, extras);
  }
  /// The same where no loop is asked.
  constexpr node_id emit_plain(const op_rules& op, array_view<const node_id> inputs, attribute_list attributes,
                               const node_extras& extras) {
    if (overflow_) return 0;
    scratch_array<tensor_spec, 3> room(inputs.size());
    tensor_spec* const in = room.data();
    const std::size_t count = inputs.size();
    const node_id* const from = inputs.data();
    for (std::size_t k = 0; k < count; ++k) in[k] = nodes_[from[k]].spec;
    infer_args args{{in, count}, attributes, {}};
    if (const char* problem = op.info->infer(args)) throw problem;
    if (op.fold != nullptr && extras.controls.empty()) {
      const node_id folded = fold(op, inputs, attributes, args.out);
      if (folded != no_node) return folded;
    }
    if (op.info->outputs > 0) args.out = {};  // its results have types, which `emit_output` infers
    return emit_as(op, args.out, inputs, attributes, extras);
  }

  /// The same: `emit_op(op::add{}, pair)`. The tag has no value. Where the graph's type is a template argument, the
  /// rules of the operation are not formed before they are needed.
  template <class Op>
  constexpr node_id emit_op(Op, array_view<const node_id> inputs, attribute_list attributes = {}) {
    return emit(rules<Op>, inputs, attributes);
  }

  /// Result `index` of a node with several.
  constexpr node_id emit_output(node_id of, int index);

  /// The same for operations whose spec does not follow from inputs.
  constexpr node_id emit_as(const op_rules& op, const tensor_spec& spec, array_view<const node_id> inputs,
                            attribute_list attributes = {}, const node_extras& extras = no_extras) {
    if (overflow_) return 0;
    if (before_updates_.size() != 0 && op.info->is(op_kind::update))
      return emit_update(op, spec, inputs, attributes, extras);
    const bool unique = op.info->stateful || !extras.controls.empty() || !extras.colocated.empty();
    const std::int16_t request = source_ == nullptr ? extras.request : request_of(op, spec, extras);
    const int input_count = static_cast<int>(inputs.size()), attribute_count = static_cast<int>(attributes.size());
    // Of few statements, since the compiler runs them: equal nodes must meet, others should not.
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ull;
    std::uint64_t h =
        op.info->id + static_cast<std::uint64_t>(spec.type) + 16 * static_cast<std::uint64_t>(extras.value);
    const node_id* const in = inputs.data();
    const attribute* const with = attributes.data();
    for (int k = 0; k < input_count; ++k) h = (h ^ static_cast<std::uint64_t>(in[k]) ^ (h >> 29)) * factor;
    for (int k = 0; k < attribute_count; ++k) h = (h ^ static_cast<std::uint64_t>(with[k]) ^ (h >> 29)) * factor;
    if (!extras.name.empty()) h = hash_combine(h, hash_text(extras.name) + 31 * hash_text(extras.suffix));
    std::size_t bucket = static_cast<std::size_t>(h ^ (h >> 32) ^ (h >> 47)) & bucket_mask_;
    // What no node equals is in no bucket: many of one kind would stand in one row, and each be passed by all others.
    for (; !unique && buckets_[bucket] != 0; bucket = (bucket + 1) & bucket_mask_)
      if (equal(buckets_[bucket] - 1, op, spec, inputs, attributes, extras, request)) return buckets_[bucket] - 1;
    const int controls = static_cast<int>(extras.controls.size()),
              colocated = static_cast<int>(extras.colocated.size());
    if (count_ == node_room_ || edge_count_ + input_count + controls + colocated > edge_room_ ||
        attribute_count_ + attribute_count > attribute_room_) {
      overflow_ = true;
      return 0;
    }
    nodes_[count_] = {&op,
                      spec,
                      edge_count_,
                      static_cast<std::int16_t>(input_count),
                      static_cast<std::int16_t>(controls),
                      attribute_count_,
                      static_cast<std::int16_t>(attribute_count),
                      extras.name,
                      extras.suffix,
                      extras.value,
                      request,
                      static_cast<std::int16_t>(colocated)};
    for (int k = 0; k < input_count; ++k) edges_[edge_count_++] = in[k];
    if (controls > 0)
      for (const node_id i : extras.controls) edges_[edge_count_++] = i;
    if (colocated > 0)
      for (const node_id i : extras.colocated) edges_[edge_count_++] = i;
    for (int k = 0; k < attribute_count; ++k) attributes_[attribute_count_++] = with[k];
    if (!unique) buckets_[bucket] = count_ + 1;
    if (loops_ != nullptr) loops_->added(*loops_, *this, count_);
    return count_++;
  }

 private:
  TAGMA_COLD constexpr node_id emit_update(const op_rules& op, const tensor_spec& spec,
                                           array_view<const node_id> inputs, attribute_list attributes,
                                           node_extras extras) {
    const array_view<const node_id> before = before_updates_;
    scratch_array<node_id, 8> all(extras.controls.size() + before.size());
    std::size_t count = 0;
    for (const node_id i : extras.controls) all[count++] = i;
    for (const node_id i : before) all[count++] = i;
    extras.controls = all.view();
    before_updates_ = {};
    const node_id id = emit_as(op, spec, inputs, attributes, extras);
    before_updates_ = before;
    return id;
  }
  /// A scalar that the compiler knows is wherever it is read, and a slot where its variable is.
  constexpr std::int16_t request_of(const op_rules& op, const tensor_spec& spec, const node_extras& extras) const {
    if (extras.request != 0 || op.info->is(op_kind::constant) || op.info->unasked || !extras.suffix.empty())
      return extras.request;
    if (followed_ != no_node && nodes_[followed_].request != 0) return nodes_[followed_].request;
    return source_->ask(*source_, *op.info, spec, extras.name);
  }
  constexpr node_id fold(const op_rules& op, array_view<const node_id> inputs, attribute_list attributes,
                         const tensor_spec& spec);
  [[nodiscard]] constexpr bool equal(node_id id, const op_rules& op, const tensor_spec& spec,
                                     array_view<const node_id> inputs, attribute_list attributes,
                                     const node_extras& extras, std::int16_t request) const {
    const node& n = nodes_[id];
    if (n.op != &op || static_cast<std::size_t>(n.inputs) != inputs.size() || n.controls != 0 || n.colocated != 0 ||
        static_cast<std::size_t>(n.attribute_count) != attributes.size() || n.value != extras.value)
      return false;
    const node_id* theirs = edges_ + n.first_edge;
    for (const node_id i : inputs)
      if (*theirs++ != i) return false;
    const attribute* their_attribute = attributes_ + n.first_attribute;
    for (const attribute a : attributes)
      if (*their_attribute++ != a) return false;
    return n.spec == spec && n.name == extras.name && n.suffix == extras.suffix && n.request == request;
  }

  node* nodes_;
  node_id* edges_;
  attribute* attributes_;
  node_id* buckets_;  // one more than the node; 0 in an empty one
  int node_room_;
  int edge_room_;
  int attribute_room_;
  std::size_t bucket_mask_;
  int count_ = 0;
  int edge_count_ = 0;
  int attribute_count_ = 0;
  bool overflow_ = false;
  request_source* source_ = nullptr;
  node_id followed_ = no_node;
  array_view<const node_id> before_updates_{};
  loop_observer* loops_ = nullptr;
};

/// A table with `Times / Part` elements for each node of a graph, of which the first so many are there to be.
template <class T, std::size_t Nodes, std::size_t Times = 1, std::size_t Part = 1>
using node_table = fixed_array<T, Nodes == heap_room ? heap_room : Nodes * Times / Part>;

/// Storage for a graph of up to `Nodes` nodes.
template <std::size_t Nodes>
struct graph_storage {
  node_table<node, Nodes> nodes{};
  node_table<node_id, Nodes, 4> edges{};
  node_table<attribute, Nodes, 4> attributes{};
  node_table<node_id, Nodes, 4> buckets{};

  /// For storage on the heap: room for so many nodes, a power of two. Throws `no_memory`.
  constexpr void allocate(std::size_t room) {
    make_room(room, nodes);
    make_room(4 * room, edges, attributes, buckets);
  }
  [[nodiscard]] constexpr graph view() {
    return {{nodes.data(), nodes.size()},
            {edges.data(), edges.size()},
            {attributes.data(), attributes.size()},
            {buckets.data(), buckets.size()}};
  }
};

/// One of several results of an operation.
struct output_op {
  static constexpr const char* name = "output";
  static constexpr op_kind kind = op_kind::output;
  static constexpr void takes(auto& t) { t.inputs(1), t.attribute("result", 0, most_outputs - 1), t.given(); }
  static constexpr const char* infer(infer_args&) { return "output: its operation infers it"; }
};

/// A scalar that the compiler knows.
struct constant_op {
  static constexpr const char* name = "constant";
  static constexpr op_kind kind = op_kind::constant;
  static constexpr void takes(auto& t) {
    t.inputs(0), t.number("value"), t.given();
    t.needs(t.out().type != dtype::none && t.out().type != dtype::string && t.out().dims.rank == 0, "is one number");
  }
  static constexpr const char* infer(infer_args&) { return "constant: its type is given, not inferred"; }
};

/// The node of a scalar constant.
[[nodiscard]] constexpr node_id emit_constant(graph& g, dtype type, double value) {
  const attribute bits = std::bit_cast<attribute>(value);
  return g.emit_as(rules<constant_op>, {type, {}}, {}, {&bits, 1});
}

/// The value of a node if it is a constant scalar; `known` tells.
struct constant_value {
  bool known = false;
  double value = 0;

  [[nodiscard]] constexpr bool is(double other) const { return known && value == other; }
};
[[nodiscard]] constexpr constant_value constant_of(const graph& g, node_id id) {
  const node& n = g[id];
  if (!n.op->info->is(op_kind::constant)) return {};
  return {true, as_double(g.attributes(id).data()[0])};
}

/// What `op::fold` sees: a node about to be added. It sets `result` to a node that has the same value.
struct fold_args {
  graph& g;
  array_view<const node_id> inputs;
  attribute_list attributes;
  tensor_spec out;
  node_id result = no_node;

  [[nodiscard]] constexpr node_id in(int i) const { return inputs.data()[i]; }
  [[nodiscard]] constexpr constant_value constant(int i) const { return constant_of(g, inputs.data()[i]); }
  /// True if input `i` is a constant of this value.
  [[nodiscard]] constexpr bool is(int i, double value) const { return constant(i).is(value); }
  /// Lets input `i` stand for the node, where its spec is that of the result. Not a variable: who reads the node behind
  /// an update reads what the variable was before.
  constexpr void use_input(int i) {
    if (!(g.spec(in(i)) == out)) return;
    node_id of = in(i);
    while (g.info(of).shares_bytes()) of = g.input(of, 0);
    if (!g.info(of).is(op_kind::variable)) result = in(i);
  }
  constexpr void use_constant(double value) {
    if (out.dims.rank == 0 && is_floating(out.type)) result = emit_constant(g, out.type, value);
  }
};

constexpr node_id graph::emit_output(node_id of, int index) {
  if (overflow_) return 0;
  const int count = nodes_[of].inputs;
  scratch_array<tensor_spec, 8> in(count);
  for (int k = 0; k < count; ++k) in[k] = nodes_[edges_[nodes_[of].first_edge + k]].spec;
  infer_args args{in.view(), attributes(of), {}, index};
  if (const char* problem = info(of).infer(args)) throw problem;
  const attribute which = index;
  return emit_as(rules<output_op>, args.out, {&of, 1}, {&which, 1});
}

constexpr node_id graph::fold(const op_rules& op, array_view<const node_id> inputs, attribute_list attributes,
                              const tensor_spec& spec) {
  fold_args args{*this, inputs, attributes, spec};
  op.fold(args);
  return args.result;
}

/// Adds nodes: what gradients and expansions do.
struct node_writer {
  graph& g;

  /// A new node of an operation over other nodes: `emit(op::add{}, a, b)`. The tag has no value.
  template <class Op, class... Node>
  constexpr node_id emit(Op, Node... inputs) const {
    const node_id ids[] = {inputs...};
    return g.emit(rules<Op>, {ids, sizeof...(Node)});
  }
  template <class Op, class... Node>
  constexpr node_id emit_with(Op, attribute_list attributes, Node... inputs) const {
    const node_id ids[] = {inputs...};
    return g.emit(rules<Op>, {ids, sizeof...(Node)}, attributes);
  }
  template <class Op>
  constexpr node_id emit_over(Op, array_view<const node_id> inputs, attribute_list attributes) const {
    return g.emit(rules<Op>, inputs, attributes);
  }
};

/// What `op::gradient` sees: the node, the gradient of its output, and a place to add the gradients of its inputs. The
/// operations of the library take it as `auto& g`: what a gradient emits is then instantiated only in programs that
/// have the operation, not wherever its header is included.
struct gradient_args : node_writer {
  node_id self;
  node_id upstream;            ///< gradient of the loss by this node's output; of several, by the first
  array_view<node_id> result;  ///< gradient by each input; left at `no_node` where there is none
  array_view<const node_id> upstreams{};

  [[nodiscard]] constexpr node_id in(int i) const { return g.input(self, i); }
  [[nodiscard]] constexpr const tensor_spec& in_spec(int i) const { return g.spec(in(i)); }
  [[nodiscard]] constexpr attribute attr(int i) const { return g.attributes(self)[i]; }
  [[nodiscard]] constexpr int input_count() const { return g[self].inputs; }

  /// Of a node with several outputs, the gradient of the loss by output `i`; `no_node` where there is none.
  [[nodiscard]] constexpr node_id upstream_of(int i) const { return upstreams[i]; }
  /// Output `i` of such a node.
  [[nodiscard]] constexpr node_id output(int i) { return g.emit_output(self, i); }

  /// A scalar of the type of this node's output.
  constexpr node_id constant(double value) { return emit_constant(g, g.spec(self).type, value); }

  constexpr void set(int i, node_id gradient) { result[i] = gradient; }
};

/// A trainable variable and its gradient.
struct variable_gradient {
  node_id variable = no_node;
  node_id gradient = no_node;
};

/// What `op::expand` sees: a node that is replaced by others, of which it names one as the result. For optimizers, the
/// gradients are at hand. The compositions of the library take it as `auto& e`, for the reason above.
struct expand_args : node_writer {
  array_view<const node_id> inputs;
  attribute_list attributes;
  array_view<const variable_gradient> gradients;
  node_id result = no_node;

  [[nodiscard]] constexpr node_id in(int i) const { return inputs[i]; }
  [[nodiscard]] constexpr const tensor_spec& in_spec(int i) const { return g.spec(in(i)); }
  [[nodiscard]] constexpr attribute attr(int i) const { return attributes[i]; }
  /// A scalar of the type of input 0.
  constexpr node_id constant(double value) const { return emit_constant(g, in_spec(0).type, value); }
};

}  // namespace tagma::ir
