// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Plans that are made when a program runs, in memory of the heap: the passes are those that the compiler runs, and so
/// are the tables.

#include "tagma/base/heap_room.hpp"
#include "tagma/graph/pass/late.hpp"
#include "tagma/plan/devices.hpp"
#include "tagma/plan/loop_schedule.hpp"
#include "tagma/plan/loops.hpp"
#include "tagma/plan/peak.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::plan {

/// Where the nodes of a graph run.
struct plan_site {
  array_view<const plan_device> devices;
  array_view<const std::int16_t> device;       ///< of each node; empty if there is one device
  array_view<const ir::place_reason> reasons;  ///< of each node; empty if there is one device
  array_view<const bool> begins_loop{};        ///< for each node, whether its kernel can go on with a loop; or nothing
};

/// A graph with the control dependencies that late extents ask for: what plans are made of.
class planned_heap_graph {
 public:
  /// Throws `no_memory`.
  /// @param g outlives it
  explicit planned_heap_graph(const ir::graph_view& g) : view_(g) {
    if (!ir::has_late(g)) return;
    tables_ = ir::detail::add_late_waits<heap_room, heap_room>(g, ir::detail::find_late<heap_room>(g));
    view_.nodes = tables_.node;
    view_.edges = tables_.edge;
  }
  planned_heap_graph(const planned_heap_graph&) = delete;
  planned_heap_graph& operator=(const planned_heap_graph&) = delete;

  [[nodiscard]] const ir::graph_view& view() const { return view_; }

 private:
  ir::detail::late_tables<heap_room, heap_room> tables_;
  ir::graph_view view_;
};

/// The plan of some nodes of a graph.
class heap_plan {
 public:
  /// Throws `no_memory`.
  /// @param g,where outlive it
  heap_plan(const planned_heap_graph& planned, array_view<const node_id> fetches, const plan_site& where)
      : where_(where) {
    const ir::graph_view& g = planned.view();
    fixed_array<node_id, heap_room> wanted;
    wanted.allocate(fetches.size());
    for (std::size_t f = 0; f < fetches.size(); ++f) wanted[f] = fetches[f];
    const auto needs = ir::prune<heap_room>(g, fetches);
    const auto fusion = ir::fuse<heap_room>(g, needs, fetches, where.device, where.begins_loop);
    const auto order = g.loops.empty() ? schedule<heap_room, heap_room>(g, needs, fusion)
                                       : schedule_loops<heap_room, heap_room>(g, needs, fusion);
    auto tables = write_tables<heap_room, heap_room, heap_room>(g, wanted, needs, fusion, order, where.device);
    if (where.devices.size() > 1 && !tables.contradictory)
      tables = add_transfers<heap_room, heap_room>(tables, where.devices, g);
    if (g.loops.empty())
      static_cast<raw&>(tables_) = assign_storage(tables);
    else
      tables_ = assign_loops<heap_room, heap_room>(tables, g, needs);
  }

  /// True if reads and updates wait for one another: there is no plan.
  [[nodiscard]] bool contradictory() const { return tables_.contradictory; }
  [[nodiscard]] plan_view view() const {
    const plan_sizes& n = tables_.sizes;
    return {{tables_.nodes.data(), n.nodes},
            {tables_.inputs.data(), n.inputs},
            {tables_.attributes.data(), n.attributes},
            {tables_.steps.data(), n.steps},
            {tables_.operands.data(), n.operands},
            {tables_.blocks.data(), n.blocks},
            tables_.fetches,
            tables_.fetch_steps,
            tables_.feeds,
            tables_.writes_variables,
            where_.devices,
            where_.reasons,
            {tables_.loops.data(), tables_.loop_count},
            {tables_.rows.data(), tables_.row_count}};
  }
  /// The tensors that a fused step reads, beside its operands.
  [[nodiscard]] array_view<const loop_load> loads(std::int32_t step) const {
    return {tables_.loads.data() + tables_.steps[step].first_operand, tables_.steps[step].operands};
  }
  /// What a fused step computes.
  [[nodiscard]] array_view<const loop_operation> operations(std::int32_t step) const {
    return {tables_.operations.data() + tables_.first_operation[step], tables_.operation_count[step]};
  }
  /// The element type of operand `k` of a step; behind the operands, of its results if it has several.
  [[nodiscard]] dtype operand_type(const plan_step& step, std::size_t k) const {
    const std::size_t at = static_cast<std::size_t>(step.first_operand) + k;
    const node_id i = tables_.operands[at];
    return i == ir::no_node ? tables_.loads[at].type : tables_.nodes[i].spec.type;
  }
  /// Bytes of the arenas when every dynamic extent has one value. Throws InvalidArgument if an operation does not take
  /// such extents, and ResourceExhausted for more than `max_bytes`.
  [[nodiscard]] std::int64_t peak_bytes(extent size) const {
    return plan::peak_bytes<heap_room, heap_room>(view(), size);
  }

 private:
  using raw = raw_plan<heap_room, heap_room, heap_room, heap_room>;

  looped_plan<heap_room, heap_room, heap_room, heap_room, heap_room, heap_room> tables_;
  plan_site where_;
};

}  // namespace tagma::plan
