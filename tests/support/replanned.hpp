// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Compares the tables of a graph and its plans that the compiler made with those that a process makes of the same
/// records, entry by entry.

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "tagma/device/operation_faces.hpp"
#include "tagma/graph/heap_build.hpp"
#include "tagma/graph/verify.hpp"
#include "tagma/plan/heap_plan.hpp"
#include "tagma/plan/passes.hpp"

namespace tagma::test {

/// What differs between two tables: a name and a position, or nothing.
class table_comparison {
 public:
  template <class A, class B, class Same>
  void rows(const char* table, const A& a, const B& b, std::size_t count, const Same& same) {
    for (std::size_t i = 0; i < count && found_.empty(); ++i)
      if (!same(a[i], b[i])) found_ = std::string(table) + " " + std::to_string(i);
  }
  template <class A, class B, class Same>
  void tables(const char* table, const A& a, const B& b, const Same& same) {
    if (a.size() != b.size() && found_.empty()) found_ = std::string("size of ") + table;
    if (found_.empty()) rows(table, a, b, a.size(), same);
  }
  template <class T>
  void values(const char* what, const T& a, const T& b) {
    if (!(a == b) && found_.empty()) found_ = what;
  }
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  std::string found_;
};

/// Where a graph that a process builds differs from that of the compiler; empty if nowhere.
template <class Graph, class... Pass>
std::string difference_of_graphs() {
  ir::heap_build built(Graph::traits::records, Graph::traits::named);
  if constexpr (sizeof...(Pass) > 0) (built.rewrite(&Pass::visit), ..., built.rewrite(nullptr));
  const ir::graph_view a = Graph::view, b = built.view();
  table_comparison is;
  const auto equal = [](const auto& x, const auto& y) { return x == y; };
  is.values("problem", Graph::status.problem, built.status().problem);
  is.tables("nodes", a.nodes, b.nodes, [](const ir::node& x, const ir::node& y) {
    return x.op == y.op && x.spec == y.spec && x.first_edge == y.first_edge && x.inputs == y.inputs &&
           x.controls == y.controls && x.first_attribute == y.first_attribute &&
           x.attribute_count == y.attribute_count && x.name == y.name && x.suffix == y.suffix && x.value == y.value &&
           x.request == y.request && x.colocated == y.colocated;
  });
  is.tables("edges", a.edges, b.edges, equal);
  is.tables("attributes", a.attribute_pool, b.attribute_pool, equal);
  is.tables("roots", a.roots, b.roots, equal);
  is.tables("requests", a.requests, b.requests, equal);
  is.tables("loops", a.loops, b.loops, [](const ir::loop_info& x, const ir::loop_info& y) {
    return x.head == y.head && x.parent == y.parent && x.rank == y.rank;
  });
  is.tables("back edges", a.back_edges, b.back_edges,
            [](const ir::back_edge& x, const ir::back_edge& y) { return x.carried == y.carried && x.next == y.next; });
  is.tables("loop of", a.loop_of, b.loop_of, equal);
  const value_places x = Graph::places, y = built.places();
  is.tables("places", x.places, y.places, [](const value_place& p, const value_place& q) {
    return p.first == q.first && p.count == q.count && p.value == q.value && p.name == q.name && p.reader == q.reader &&
           p.result == q.result;
  });
  is.tables("parts", x.parts, y.parts, equal);
  is.values("root place", x.root, y.root);
  is.values("values", x.values, y.values);
  return is.found();
}

template <class Closure>
struct checked_graph {
  using graph = detail::compiled_graph<Closure>;
  static std::string difference() { return difference_of_graphs<graph>(); }
};
template <class Closure, class... Pass>
struct checked_graph<detail::rewritten<Closure, Pass...>> {
  using graph = detail::compiled_graph<detail::rewritten<Closure, Pass...>>;
  static std::string difference() { return difference_of_graphs<graph, Pass...>(); }
};

/// Where the plan of a process differs from that of the compiler; empty if nowhere.
template <class Plan>
std::string difference_of_plans() {
  using graph = typename Plan::graph;
  using where = typename Plan::where;
  constexpr std::size_t n = graph::nodes;
  const plan::planned_heap_graph planned(graph::view);
  table_comparison is;
  const auto equal = [](const auto& a, const auto& b) { return a == b; };

  const auto needs = ir::prune<heap_room>(planned.view(), Plan::wanted);
  is.rows("need", Plan::needs, needs, n, equal);
  const plan::plan_site site{where::devices, where::placed.devices(), where::placed.reasons(), where::begins_loop};
  const auto fusion = plan::heap_order(planned.view(), needs, Plan::wanted, site).fusion;
  is.rows("loop of node", Plan::fusion.group, fusion.group, n, equal);
  is.rows("reason of node", Plan::fusion.reason, fusion.reason, n, equal);
  is.rows("size of loop", Plan::fusion.size, fusion.size, n, equal);

  const plan::heap_plan made(planned, Plan::wanted, site);
  const plan::plan_view &a = Plan::view, b = made.view();
  is.values("contradictory", Plan::raw.contradictory, made.contradictory());
  is.tables("nodes", a.nodes, b.nodes, [](const plan::plan_node& x, const plan::plan_node& y) {
    return x.op == y.op && x.spec == y.spec && x.first_input == y.first_input &&
           x.first_attribute == y.first_attribute && x.source == y.source && x.inputs == y.inputs &&
           x.attribute_count == y.attribute_count && x.storage == y.storage && x.slot == y.slot && x.name == y.name &&
           x.suffix == y.suffix && x.value == y.value && x.controls == y.controls && x.step == y.step &&
           x.device == y.device;
  });
  is.tables("inputs", a.inputs, b.inputs, equal);
  is.tables("attributes", a.attributes, b.attributes, equal);
  is.tables("steps", a.steps, b.steps, [](const plan::plan_step& x, const plan::plan_step& y) {
    return x.node == y.node && x.first_operand == y.first_operand && x.operands == y.operands && x.fused == y.fused &&
           x.before == y.before && x.outputs == y.outputs;
  });
  is.tables("operands", a.operands, b.operands, equal);
  is.tables("blocks", a.blocks, b.blocks, [](const plan::plan_block& x, const plan::plan_block& y) {
    return x.node == y.node && x.first == y.first && x.last == y.last && x.device == y.device && x.rows == y.rows;
  });
  is.tables("fetches", a.fetches, b.fetches, equal);
  is.tables("fetch steps", a.fetch_steps, b.fetch_steps, equal);
  is.values("feeds", a.feeds, b.feeds);
  is.values("writes_variables", a.writes_variables, b.writes_variables);
  is.tables("loops", a.loops, b.loops, [](const plan::plan_loop& x, const plan::plan_loop& y) {
    return x.first == y.first && x.end == y.end && x.parent == y.parent && x.head == y.head &&
           x.reversed == y.reversed && x.ends == y.ends && x.condition == y.condition;
  });
  is.tables("rows", a.rows, b.rows, [](const plan::plan_row& x, const plan::plan_row& y) {
    return x.node == y.node && x.base == y.base && x.slot == y.slot && x.loop == y.loop && x.rule == y.rule &&
           x.at == y.at;
  });
  for (std::int32_t s = 0; s < Plan::raw.sizes.steps && is.found().empty(); ++s) {
    const std::int32_t first = Plan::raw.first_operation[s];
    const array_view<const plan::loop_operation> operations(Plan::raw.operations.data() + first,
                                                            Plan::raw.operation_count[s]);
    is.tables("operations", operations, made.operations(s),
              [](const plan::loop_operation& x, const plan::loop_operation& y) {
                return x.op == y.op && x.type == y.type && x.operand[0] == y.operand[0] &&
                       x.operand[1] == y.operand[1] && x.operand[2] == y.operand[2];
              });
    if (!a.steps[s].fused) continue;
    const array_view<const plan::loop_load> loads(Plan::raw.loads.data() + a.steps[s].first_operand,
                                                  a.steps[s].operands);
    is.tables("loads", loads, made.loads(s), [](const plan::loop_load& x, const plan::loop_load& y) {
      return x.node == y.node && x.type == y.type && x.contiguous == y.contiguous;
    });
  }
  if (!made.contradictory() && is.found().empty())
    for (const extent size : {extent{1}, extent{7}, extent{64}}) {
      const auto peak = [&](const auto& of) {
        try {
          return of();
        } catch (const error&) {
          return std::int64_t{-1};
        }
      };
      is.values("peak", peak([&] { return detail::peak_bytes<Plan>(size); }),
                peak([&] { return made.peak_bytes(size); }));
    }
  return is.found();
}

template <class Program, std::size_t... I>
void check_single_plans(std::index_sequence<I...>) {
  const std::string found[] = {
      difference_of_plans<detail::compiled_plan<typename Program::graph, static_cast<int>(I)>>()...};
  for (const std::string& of_one : found) CHECK(of_one == "");
}
/// Checks that who reads a graph from a file takes it, if files can have all of its operations.
template <class Closure>
void check_verified(const program<Closure>& of) {
  const ir::graph_view g = program<Closure>::graph::view;
  for (const ir::node& n : g.nodes)
    if (device::operations::find_operation_face(n.op->info->name) == nullptr) return;
  CHECK_NOTHROW(ir::verify(g, device::operations::operation_faces(), of.values().parts().size()));
}
/// Checks the graph of a program, also as a reader of files does, the plan of all outputs, and that of each.
template <class Closure>
void check_plans(const program<Closure>& of) {
  using one = program<Closure>;
  CHECK(checked_graph<Closure>::difference() == "");
  check_verified(of);
  CHECK(difference_of_plans<typename one::full_plan>() == "");
  check_single_plans<one>(std::make_index_sequence<one::graph::output_count>{});
}

}  // namespace tagma::test
