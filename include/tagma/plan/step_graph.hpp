// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which step of a plan waits for which. A run by several threads may take any order that keeps these edges: it reads
/// and writes the same bytes as the order of the plan.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/plan/memory.hpp"

namespace tagma::plan {

class step_graph {
 public:
  using step_id = std::int32_t;

  /// A step that waits for another one.
  struct edge {
    step_id after = 0;
    std::int32_t next = 0;  ///< of the edges from the same step; 0 ends them
  };

  step_graph() = default;
  explicit step_graph(const plan_view& plan);

  /// Makes one of the steps of each loop, the first of them; the others wait for nothing, and nothing for them. What is
  /// ordered remains so.
  void join_loops();

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  /// The first edge of a step to those that wait for it, all behind it in the order of the plan; 0 if there is none.
  /// One step may be listed more than once.
  template <class Index>
  [[nodiscard]] std::int32_t first_edge(Index s) const {
    return steps_[s].first;
  }
  [[nodiscard]] const edge& operator[](std::int32_t e) const { return edges_[e]; }
  /// How many edges lead to `s`.
  [[nodiscard]] std::int32_t waits(std::size_t s) const { return steps_[s].waits; }
  /// True if `after` cannot begin before `before` is done.
  [[nodiscard]] bool ordered(std::size_t before, std::size_t after) const;

  /// Chooses an offset for each block of a device so that a block lies over another only if every step that uses the
  /// other one is done before. Returns the bytes of the arena, as a rule more than in the order of the plan, or
  /// `too_many` if they are more than `max_bytes`.
  /// @param bytes size of each block
  /// @param offsets written, one a block of that device
  [[nodiscard]] std::int64_t place_blocks(array_view<const std::int64_t> bytes, array_view<std::int64_t> offsets,
                                          std::int16_t device = 0) const;

 private:
  struct ends {
    std::int32_t first = 0;
    std::int32_t waits = 0;
  };

  /// Of a table with a row of bits for each block or step, one bit a step.
  template <class Index>
  [[nodiscard]] std::uint64_t* row(const heap_array<std::uint64_t>& table, Index i) const {
    return table.data() + static_cast<std::size_t>(i) * words_;
  }

  /// Operand `k` of a step; -1 is what it writes, and behind the operands are its outputs if it has several.
  [[nodiscard]] node_id used_node(const plan_step& step, int k) const;

  /// The block that has the bytes of a node, or -1.
  [[nodiscard]] std::int32_t block_of(node_id i) const;

  void add_edge(step_id before, step_id after);

  /// Inputs and control dependencies, through nodes that are no steps, such as views and groups.
  void add_dependencies();
  void add_sources(const plan_node& n, step_id after, const heap_array<std::int32_t>& seen);

  /// Reads behind the write before them and writes behind the reads before them, for every variable and every block.
  void add_storage_order();

  void find_ancestors();
  void pass_ancestors_on();

  const plan_view* plan_ = nullptr;
  heap_array<edge> edges_;  // from 1 on
  std::size_t edge_count_ = 0;
  heap_array<ends> steps_;
  heap_array<std::uint64_t> ancestors_;  // one row of bits for each step
  std::size_t words_ = 0;
  bool joined_ = false;
};

}  // namespace tagma::plan

#ifndef TAGMA_COMPILED
#include "tagma/plan/step_graph.ipp"
#endif
