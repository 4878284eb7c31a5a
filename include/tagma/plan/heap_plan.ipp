// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of heap_plan.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/graph/pass/rewrite.hpp"
#include "tagma/plan/heap_plan.hpp"
#include "tagma/plan/kept_steps.hpp"

namespace tagma::plan {

TAGMA_DECL planned_heap_graph::planned_heap_graph(const ir::graph_view& g) : view_(g) {
  for (ir::node_id i = 0; i < g.size() && frozen_.size() == 0; ++i)
    if (g.info(i).key == &ir::key<ir::keep>) frozen_ = ir::find_frozen<heap_room>(g);
  if (!ir::has_late(g)) return;
  tables_ = ir::detail::add_late_waits<heap_room, heap_room>(g, ir::detail::find_late<heap_room>(g));
  view_.nodes = tables_.node;
  view_.edges = tables_.edge;
}

namespace detail {
TAGMA_DECL schedule_result<heap_room> order_of(const ir::graph_view& g, const fixed_array<ir::need, heap_room>& needs,
                                               const ir::fusion<heap_room>& fusion) {
  return g.loops.empty() ? schedule<heap_room, heap_room>(g, needs, fusion)
                         : schedule_loops<heap_room, heap_room>(g, needs, fusion);
}
}  // namespace detail

TAGMA_DECL heap_order::heap_order(const ir::graph_view& g, const fixed_array<ir::need, heap_room>& needs,
                                  array_view<const node_id> fetches, const plan_site& where) {
  bool careful = false;
  for (ir::node_id i = 0; i < g.size(); ++i)
    careful = careful || g.info(i).key == &ir::key<op::receive> || g.info(i).key == &ir::key<op::receive_open>;
  for (;; careful = true) {
    fusion = ir::fuse<heap_room>(g, needs, fetches, where.device, where.begins_loop, careful);
    order = detail::order_of(g, needs, fusion);
    if (careful || !order.contradictory) return;
  }
}

TAGMA_DECL bool has_order(const ir::graph_view& g, array_view<const node_id> fetches) {
  const auto needs = ir::prune<heap_room>(g, fetches);
  ir::fusion<heap_room> alone;
  make_room(g.nodes.size(), alone.group, alone.reason, alone.size);
  for (ir::node_id i = 0; i < g.size(); ++i) alone.group[i] = i, alone.size[i] = 1;
  return !detail::order_of(g, needs, alone).contradictory;
}

TAGMA_DECL heap_plan::heap_plan(const planned_heap_graph& planned, array_view<const node_id> fetches,
                                const plan_site& where)
    : where_(where), numbers_(planned.view().numbers), frozen_(planned.frozen()) {
  const ir::graph_view& g = planned.view();
  fixed_array<node_id, heap_room> wanted;
  wanted.allocate(fetches.size());
  for (std::size_t f = 0; f < fetches.size(); ++f) wanted[f] = fetches[f];
  const auto needs = ir::prune<heap_room>(g, fetches);
  heap_order in(g, needs, fetches, where);
  const bool keeps = !frozen_.empty();
  if (keeps) in.order = kept_first(in.order, frozen_);
  auto tables = write_tables<heap_room, heap_room, heap_room>(g, wanted, needs, in.fusion, in.order, where.device);
  if (where.devices.size() > 1 && !tables.contradictory)
    tables = add_transfers<heap_room, heap_room>(tables, where.devices, g);
  const std::int32_t kept = keeps ? kept_count(tables, frozen_) : 0;
  if (g.loops.empty())
    static_cast<raw&>(tables_) = assign_storage(tables, kept);
  else
    tables_ = assign_loops<heap_room, heap_room>(tables, g, needs, kept);
}

TAGMA_DECL bool heap_plan::keeps(std::int32_t step) const {
  return !frozen_.empty() && is_kept(tables_, step, frozen_);
}

TAGMA_DECL plan_view heap_plan::view() const {
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
          {tables_.rows.data(), tables_.row_count},
          numbers_};
}

TAGMA_DECL array_view<const loop_load> heap_plan::loads(std::int32_t step) const {
  return {tables_.loads.data() + tables_.steps[step].first_operand, tables_.steps[step].operands};
}

TAGMA_DECL array_view<const loop_operation> heap_plan::operations(std::int32_t step) const {
  return {tables_.operations.data() + tables_.first_operation[step], tables_.operation_count[step]};
}

TAGMA_DECL dtype heap_plan::operand_type(const plan_step& step, std::size_t k) const {
  const std::size_t at = static_cast<std::size_t>(step.first_operand) + k;
  const node_id i = tables_.operands[at];
  return i == ir::no_node ? tables_.loads[at].type : tables_.nodes[i].spec.type;
}

TAGMA_DECL std::int64_t heap_plan::peak_bytes(extent size) const {
  return plan::peak_bytes<heap_room, heap_room>(view(), size);
}

}  // namespace tagma::plan
