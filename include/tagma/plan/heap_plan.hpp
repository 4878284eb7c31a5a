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
  explicit planned_heap_graph(const ir::graph_view& g);
  planned_heap_graph(const planned_heap_graph&) = delete;
  planned_heap_graph& operator=(const planned_heap_graph&) = delete;

  [[nodiscard]] const ir::graph_view& view() const { return view_; }
  /// Of each node, whether it is frozen, if plans keep what is; else nothing. They do if the graph has an `ir::keep`.
  [[nodiscard]] array_view<const bool> frozen() const { return frozen_; }

 private:
  ir::detail::late_tables<heap_room, heap_room> tables_;
  fixed_array<bool, heap_room> frozen_;
  ir::graph_view view_;
};

/// The loops of a plan, and the order of its steps.
struct heap_order {
  /// Loops that hold each other up are made anew with care; so are those of a part, whose order other parts know too.
  /// @param g with the control dependencies of late extents
  heap_order(const ir::graph_view& g, const fixed_array<ir::need, heap_room>& needs, array_view<const node_id> fetches,
             const plan_site& where);

  ir::fusion<heap_room> fusion;
  schedule_result<heap_room> order;
};

/// False if reads and updates wait for one another even where every operation is a step of its own: then nothing runs
/// these nodes, as a whole or in parts.
[[nodiscard]] bool has_order(const ir::graph_view& g, array_view<const node_id> fetches);

/// The plan of some nodes of a graph.
class heap_plan {
 public:
  /// Throws `no_memory`.
  /// @param planned,where outlive it
  heap_plan(const planned_heap_graph& planned, array_view<const node_id> fetches, const plan_site& where);

  /// True if reads and updates wait for one another: there is no plan.
  [[nodiscard]] bool contradictory() const { return tables_.contradictory; }
  [[nodiscard]] plan_view view() const;
  /// True for a step whose result holds until somebody writes a variable.
  [[nodiscard]] bool keeps(std::int32_t step) const;
  /// The tensors that a fused step reads, beside its operands.
  [[nodiscard]] array_view<const loop_load> loads(std::int32_t step) const;
  /// What a fused step computes.
  [[nodiscard]] array_view<const loop_operation> operations(std::int32_t step) const;
  /// The element type of operand `k` of a step; behind the operands, of its results if it has several.
  [[nodiscard]] dtype operand_type(const plan_step& step, std::size_t k) const;
  /// Bytes of the arenas when every dynamic extent has one value. Throws InvalidArgument if an operation does not take
  /// such extents, and ResourceExhausted for more than `max_bytes`.
  [[nodiscard]] std::int64_t peak_bytes(extent size) const;

 private:
  using raw = raw_plan<heap_room, heap_room, heap_room, heap_room>;

  looped_plan<heap_room, heap_room, heap_room, heap_room, heap_room, heap_room> tables_;
  plan_site where_;
  array_view<const std::int32_t> numbers_;  // of the graph
  array_view<const bool> frozen_;
};

}  // namespace tagma::plan

#ifndef TAGMA_COMPILED
#include "tagma/plan/heap_plan.ipp"
#endif
