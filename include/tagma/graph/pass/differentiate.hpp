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
  too_many_scopes,   ///< more chains of them, devices or functions than there is room for
  malformed_device,  ///< a device function returned a text that names no device
  oversized,         ///< a tensor has more bytes than can be addressed
  beyond_loop,       ///< a value of a body is used behind its loop
  too_many_loops,
  update_in_loop,
  update_in_block,  ///< of a variable of a repeated block
  resource_in_block,
  endless_loop,  ///< a gradient of a loop without a largest number of iterations
  second_while,  ///< a gradient of a gradient of a loop that ends by itself
  other_spec,    ///< a pass replaced a node by one of another type or shape
  misfit,        ///< a pass added an operation over operands that it does not take
  no_averages,   ///< of layers that are to move them
  empty_scope,   ///< of a choice of variables to train
  out_of_body,   ///< a pass used a value of the body of a loop behind that loop
};

/// By a function, since a comparison of enumerations takes clang ten times as long to read as a call.
[[nodiscard]] constexpr bool differ(build_problem a, build_problem b) {
  return static_cast<int>(a) != static_cast<int>(b);
}

struct record;

/// A problem and the things it is about.
struct build_status {
  build_problem problem = build_problem::none;
  const op_info* op = nullptr;
  tensor_spec first;
  tensor_spec second;
  std::string_view text{};
  const record *one = nullptr, *other = nullptr;  ///< the variables of one name

  [[nodiscard]] constexpr bool good() const { return static_cast<int>(problem) == 0; }
  constexpr void stop(build_problem p) { problem = p; }
};

/// Scratch space of `differentiate`, as large as the graph may become.
struct gradient_scratch {
  array_view<node_id> adjoint;
  array_view<bool> wanted;
};

namespace detail {

/// Gradients by outputs of nodes that have several, until their node is come to. Outputs are near their node, so few
/// wait at a time.
class output_gradients {
 public:
  constexpr output_gradients() = default;
  output_gradients(const output_gradients&) = delete;
  output_gradients& operator=(const output_gradients&) = delete;
  constexpr ~output_gradients() { delete[] all_; }

  constexpr void put(node_id of, std::int64_t index, node_id gradient) {
    if (count_ == room_) grow();
    all_[count_++] = {of, index, gradient};
  }
  /// Writes those of a node where their index says, and forgets them. The first of them, or `no_node`.
  constexpr node_id take(node_id of, array_view<node_id> gradients) {
    node_id first = no_node;
    for (std::size_t i = count_; i-- > 0;) {
      if (all_[i].of != of) continue;
      first = gradients[all_[i].index] = all_[i].gradient;
      all_[i] = all_[--count_];
    }
    return first;
  }

 private:
  struct entry {
    node_id of = 0;
    std::int64_t index = 0;
    node_id gradient = 0;
  };
  constexpr void grow() {
    room_ = 2 * room_ + 8;
    entry* const more = new entry[room_];
    for (std::size_t i = 0; i < count_; ++i) more[i] = all_[i];
    delete[] all_;
    all_ = more;
  }

  entry* all_ = nullptr;
  std::size_t room_ = 0, count_ = 0;
};

}  // namespace detail

/// Marks the nodes up to `y` that depend on one of `xs` in a way that gradients flow along.
template <class Graph>
constexpr void mark_wanted(const Graph& g, node_id y, bool* wanted) {
  for (node_id i = 0; i <= y; ++i) {
    const node& n = g[i];
    if (n.op->stops_gradient || (!is_floating(n.spec.type) && n.op->info->outputs == 0)) continue;
    const node_id* const in = g.inputs(i).data();
    for (int k = 0; k < n.inputs && !wanted[i]; ++k)
      if (wanted[in[k]]) wanted[i] = !n.op->info->ignores_elements(k);
  }
}

/// Where gradients begin: the sum of `y` by `y`.
template <class Graph>
constexpr node_id emit_seed(Graph& g, node_id y) {
  const node_id seed = emit_constant(g, g.spec(y).type, 1);
  if (g.spec(y).dims.rank == 0) return seed;
  const node_id pair[] = {seed, y};
  return g.emit_op(op::broadcast_like{}, pair);
}

/// Hands what flows into node `i` on to its inputs, each time by `add(input, gradient)`. False if that cannot be done:
/// `status` knows why.
template <class Graph, class Add>
constexpr bool flow_back(Graph& g, node_id i, node_id upstream, detail::output_gradients& of_outputs,
                         const bool* wanted, build_status& status, const Add& add) {
  const op_rules& op = *g[i].op;
  node_id upstreams[most_outputs]{};
  if (op.info->outputs > 0) {
    for (node_id& u : upstreams) u = no_node;
    upstream = of_outputs.take(i, upstreams);
  }
  if (upstream == no_node || op.stops_gradient) return true;
  if (op.info->is(op_kind::output)) {
    of_outputs.put(g.input(i, 0), g.attributes(i)[0], upstream);
    return true;
  }
  const int count = g[i].inputs;
  const node_id* const inputs = g.inputs(i).data();
  bool flows = false;
  for (int k = 0; k < count && !flows; ++k) flows = wanted[inputs[k]] && !op.info->ignores_elements(k);
  if (!flows) return true;
  if (op.gradient == nullptr) {
    status = {build_problem::no_gradient, op.info, g.spec(i), {}};
    return false;
  }
  scratch_array<node_id, 4> room(count);
  node_id* const parts = room.data();
  for (int k = 0; k < count; ++k) parts[k] = no_node;
  g.follow(i);
  gradient_args args{{g}, i, upstream, room.view(), upstreams};
  op.gradient(args);
  const bool broadcasts = op.info->is(op_kind::elementwise);
  for (int k = 0; k < count; ++k) {
    const node_id in = inputs[k];
    node_id part = parts[k];
    if (part == no_node || !wanted[in]) continue;
    if (broadcasts) part = op::unbroadcast(g, part, g.spec(in).dims);
    add(in, part);
  }
  return true;
}
/// A sum that may have had no part yet.
template <class Graph>
constexpr void add_gradient(Graph& g, node_id& sum, node_id part) {
  const node_id pair[] = {sum, part};
  sum = sum == no_node ? part : g.emit_op(op::add{}, pair);
}

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
  mark_wanted(g, y, wanted);
  if (!wanted[y]) return;
  adjoint[y] = emit_seed(g, y);

  detail::output_gradients of_outputs;
  const auto add = [&](node_id in, node_id part) { add_gradient(g, adjoint[in], part); };
  for (node_id i = y; i >= 0 && !g.overflow(); --i) {
    if (adjoint[i] == no_node && g.info(i).outputs == 0) continue;
    if (!flow_back(g, i, adjoint[i], of_outputs, wanted, status, add)) return;
  }
  g.follow(no_node);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i] <= y) result[i] = adjoint[xs[i]];
}

}  // namespace tagma::ir
