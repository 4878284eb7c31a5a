// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A compiled program as text: what runs when and where, what was fused and why not, where each tensor lives.

#include "tagma/base/heap_array.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/graph/print.hpp"
#include "tagma/plan/program.hpp"

namespace tagma {

namespace diagnose {
/// What is to be explained is among the outputs of the program.
template <int Position, class Spec>
inline constexpr bool explains_output = Position >= 0;
}  // namespace diagnose

namespace plan {

/// The table of `tagma::explain`, built row by row.
class plan_printer {
 public:
  plan_printer(const ir::graph_view& g, const plan_view& p, const ir::pass_results& passes, extent batch);

  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t columns = 9;
  struct row {
    std::string cell[columns];
  };

  [[nodiscard]] int steps() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] bool is_transfer(node_id i) const { return plan_.nodes[i].op == &ir::info<transfer>; }
  [[nodiscard]] std::string number(node_id i) const;
  [[nodiscard]] std::string device_name(const plan_node& n) const;
  [[nodiscard]] node_id input(const plan_node& n, int k) const { return plan_.inputs[n.first_input + k]; }
  [[nodiscard]] bool shares_bytes(node_id i) const { return plan_.nodes[i].op->shares_bytes(); }
  /// The node whose bytes this one has.
  [[nodiscard]] node_id owner(node_id i) const;
  [[nodiscard]] std::int64_t bytes_of(node_id i) const { return tagma::bytes_of(specs_[i]); }
  [[nodiscard]] std::int64_t block_bytes(const plan_block& b) const;

  void infer_extents();

  void follow_steps();

  void place_blocks();

  [[nodiscard]] bool in_loop(node_id i) const;

  [[nodiscard]] row describe(node_id i) const;

  [[nodiscard]] std::string device_text(node_id i) const;

  [[nodiscard]] std::string loop_text(node_id i) const;

  [[nodiscard]] std::string storage_text(node_id i) const;

  [[nodiscard]] std::string lifetime(node_id i) const;

  [[nodiscard]] std::string totals() const;

  /// "scan #1: steps 2 to 3, 100 times", for each; "branch #1: step 2, once or never", "while #1: step 2, as long as
  /// #4".
  [[nodiscard]] std::string scans() const;
  /// "192 bytes", or with several devices "128 bytes on /device:CPU:0, 64 bytes on /device:CPU:1", those that hold
  /// some.
  [[nodiscard]] std::string arenas() const;

  const ir::graph_view& graph_;
  const plan_view& plan_;
  const ir::pass_results& passes_;
  extent batch_;
  node_id nodes_;  // how many there are
  heap_array<tensor_spec> specs_;
  heap_array<int> step_of_;   // of each node of the plan, -1 if it has none
  heap_array<int> last_use_;  // of each node of the plan that owns bytes
  heap_array<int> loop_;      // number of the loop of which a node of the graph is the result
  heap_array<std::int64_t> offsets_;
  heap_array<std::int64_t> arena_;  // of each device
  int loops_ = 0;
};

}  // namespace plan

namespace detail {

/// Calls `use` with what the passes found out for the outputs of a plan. They run again, at run time: their
/// tables are no part of a compiled plan.
template <class Graph, class Plan, class Use>
[[nodiscard]] std::string with_passes(Use use) {
  const auto& planned = Plan::planned::view;
  const auto needs = ir::prune<Graph::nodes>(planned, Plan::wanted);
  using where = placed_graph<Graph>;
  const auto fusion =
      ir::fuse<Graph::nodes>(planned, needs, Plan::wanted, where::placed.devices(), where::begins_loop, Plan::careful);
  return use(ir::pass_results{needs.data(), fusion.group.data(), fusion.reason.data()});
}

template <class Graph, class Plan>
[[nodiscard]] std::string explain_plan(extent batch) {
  return with_passes<Graph, Plan>([batch](const ir::pass_results& passes) {
    return plan::plan_printer(Graph::view, Plan::view, passes, batch).text();
  });
}

template <class Graph, class... E>
using plan_of_outputs = compiled_plan<Graph, Graph::traits::template position<typename E::id>()...>;

}  // namespace detail

/// How a program runs, as a table: one row a node, with its step, its type, its device, its loop or why it has its own,
/// its place in memory and how long it is alive; then totals.
/// @param batch the value of every dynamic extent, for sizes in bytes
/// Throws InvalidArgument if that value fits no run of the program.
template <class Closure>
[[nodiscard]] std::string explain(const program<Closure>&, extent batch = 1) {
  return detail::explain_plan<typename program<Closure>::graph, typename program<Closure>::full_plan>(batch);
}

/// The same for a run that fetches some outputs only: `explain(program, outputs(loss), 32)`.
/// Raises TAGMA-E144 for something that is no output of the program.
template <class Closure, expression... E>
[[nodiscard]] std::string explain(const program<Closure>&, const output_list<E...>&, extent batch = 1) {
  using graph = typename program<Closure>::graph;
  constexpr bool known =
      (true && ... &&
       diagnose::explains_output<graph::traits::template position<typename E::id>(), typename E::spec_type>);
  static_assert(known, "TAGMA-E144 explain: what is asked for is no output of this program");
  if constexpr (known)
    return detail::explain_plan<graph, detail::plan_of_outputs<graph, E...>>(batch);
  else
    return {};
}

/// The graph of a program in Graphviz' language: `dot -Tsvg` draws it. Each fused loop is a box.
template <class Closure>
[[nodiscard]] std::string to_dot(const program<Closure>&) {
  using graph = typename program<Closure>::graph;
  return detail::with_passes<graph, typename program<Closure>::full_plan>(
      [](const ir::pass_results& passes) { return ir::to_dot(graph::view, passes); });
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/plan/print.ipp"
#endif
