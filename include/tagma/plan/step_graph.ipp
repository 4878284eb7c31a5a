// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of step_graph.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/plan/step_graph.hpp"

namespace tagma::plan {

TAGMA_COLD TAGMA_DECL step_graph::step_graph(const plan_view& plan) : plan_(&plan), steps_(plan.steps.size()) {
  add_dependencies();
  add_storage_order();
  find_ancestors();
}

TAGMA_COLD TAGMA_DECL void step_graph::join_loops() {
  joined_ = true;
  const heap_array<std::int32_t> seen(plan_->nodes.size());
  const auto waits_for = [&](node_id i, std::int32_t loop) {
    if (i != ir::no_node) add_sources(plan_->nodes[i], plan_->loops[loop].first, seen);
  };
  // What tells how often a loop is done, and what it begins with, its steps need not read.
  for (std::size_t l = 0; l < plan_->loops.size(); ++l)
    for (const node_id i : {plan_->loops[l].head, plan_->loops[l].condition})
      waits_for(i, static_cast<std::int32_t>(l));
  for (const plan_row& r : plan_->rows) waits_for(r.node, r.loop);
  const heap_array<edge> old = static_cast<heap_array<edge>&&>(edges_);
  const heap_array<ends> from(steps_.size());
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    from[s] = steps_[s];
    steps_[s] = {};
  }
  edges_ = {};
  edge_count_ = 0;
  const auto joined = [&](std::size_t s) {
    const std::int32_t l = plan_->outermost_loop(s);
    return l < 0 ? static_cast<step_id>(s) : plan_->loops[l].first;
  };
  for (std::size_t s = 0; s < steps_.size(); ++s)
    for (std::int32_t e = from[s].first; e != 0; e = old[e].next)
      if (const step_id after = joined(static_cast<std::size_t>(old[e].after)); joined(s) < after)
        add_edge(joined(s), after);  // a row of a loop may be one of what is made behind it
  pass_ancestors_on();
}

TAGMA_DECL bool step_graph::ordered(std::size_t before, std::size_t after) const {
  return (row(ancestors_, after)[before / 64] >> (before % 64)) & 1;
}

TAGMA_COLD TAGMA_DECL std::int64_t step_graph::place_blocks(array_view<const std::int64_t> bytes,
                                                            array_view<std::int64_t> offsets,
                                                            std::int16_t device) const {
  const std::size_t blocks = plan_->blocks.size();
  const heap_array<std::uint64_t> users(blocks * words_);  // one row of bits for each block
  for (std::size_t s = 0; s < size(); ++s)
    for (int k = -1; k < plan_->steps[s].operands + plan_->steps[s].outputs; ++k) {
      const node_id used = used_node(plan_->steps[s], k);
      if (used == ir::no_node) continue;
      if (const std::int32_t b = block_of(used); b >= 0) row(users, b)[s / 64] |= std::uint64_t{1} << (s % 64);
    }
  for (std::size_t r = 0; joined_ && r < plan_->rows.size(); ++r)
    for (const node_id used : {plan_->rows[r].base, plan_->rows[r].node}) {
      const auto s = static_cast<std::size_t>(plan_->loops[plan_->rows[r].loop].first);
      if (used == ir::no_node) continue;
      if (const std::int32_t b = block_of(used); b >= 0) row(users, b)[s / 64] |= std::uint64_t{1} << (s % 64);
    }
  const auto ended = [&](std::size_t other, std::size_t b) {
    if (plan_->blocks[other].last >= plan_->blocks[b].first) return false;
    const std::uint64_t* const done = row(ancestors_, plan_->blocks[b].first);
    for (std::size_t w = 0; w < words_; ++w)
      if ((row(users, other)[w] & ~done[w]) != 0) return false;
    return true;
  };
  const heap_array<std::size_t> placed(blocks);  // by offset
  std::size_t count = 0;
  std::int64_t peak = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (plan_->blocks[b].device != device) continue;
    const std::int64_t size = rounded(bytes[b]);
    std::int64_t end = 0, offset = -1;
    for (std::size_t i = 0; i < count && offset < 0; ++i) {
      const std::size_t other = placed[i];
      if (ended(other, b)) continue;
      if (offsets[other] - end >= size) offset = end;
      const std::int64_t other_end = offsets[other] + rounded(bytes[other]);
      if (other_end > end) end = other_end;
    }
    offsets[b] = offset < 0 ? end : offset;
    if (size > max_bytes - offsets[b]) return too_many;
    std::size_t place = count++;
    for (; place > 0 && offsets[placed[place - 1]] > offsets[b]; --place) placed[place] = placed[place - 1];
    placed[place] = b;
    if (offsets[b] + size > peak) peak = offsets[b] + size;
  }
  return peak;
}

TAGMA_DECL node_id step_graph::used_node(const plan_step& step, int k) const {
  return k < 0 ? step.node : plan_->operands[step.first_operand + k];
}

TAGMA_DECL std::int32_t step_graph::block_of(node_id i) const {
  const plan_node* n = &plan_->nodes[i];
  while (n->is_in(storage_kind::row) && plan_->rows[n->slot].base != ir::no_node)
    n = &plan_->nodes[plan_->rows[n->slot].base];
  return n->is_in(storage_kind::row) ? plan_->rows[n->slot].slot : n->is_in(storage_kind::arena) ? n->slot : -1;
}

TAGMA_COLD TAGMA_DECL void step_graph::add_edge(step_id before, step_id after) {
  if (before < 0 || before == after) return;
  if (edge_count_ + 1 >= edges_.size()) {
    heap_array<edge> more(2 * edges_.size() + 64);
    for (std::size_t e = 0; e < edges_.size(); ++e) more[e] = edges_[e];
    edges_ = static_cast<heap_array<edge>&&>(more);
  }
  edges_[++edge_count_] = {after, steps_[before].first};
  steps_[before].first = static_cast<std::int32_t>(edge_count_);
  ++steps_[after].waits;
}

TAGMA_COLD TAGMA_DECL void step_graph::add_dependencies() {
  const heap_array<std::int32_t> seen(plan_->nodes.size());
  for (const plan_node& n : plan_->nodes)
    if (n.step >= 0) add_sources(n, n.step, seen);
}

TAGMA_COLD TAGMA_DECL void step_graph::add_sources(const plan_node& n, step_id after,
                                                   const heap_array<std::int32_t>& seen) {
  for (int k = 0; k < n.inputs + n.controls; ++k) {
    if (k < n.inputs && n.op->ignores_elements(k)) continue;
    const node_id from = plan_->inputs[n.first_input + k];
    const plan_node& source = plan_->nodes[from];
    if (source.step >= 0) {
      add_edge(source.step, after);
    } else if (seen[from] != after + 1) {
      seen[from] = after + 1;
      add_sources(source, after, seen);
    }
  }
}

TAGMA_COLD TAGMA_DECL void step_graph::add_storage_order() {
  const auto blocks = static_cast<std::int32_t>(plan_->blocks.size());
  std::int32_t cells = blocks;
  for (const plan_node& n : plan_->nodes)
    if (n.is_in(storage_kind::variable) && blocks + n.slot >= cells) cells = blocks + n.slot + 1;
  struct reader {
    step_id step = 0;
    std::int32_t next = 0;
  };
  const heap_array<step_id> writer(cells);
  const heap_array<std::int32_t> head(cells);
  for (step_id& w : writer) w = -1;
  std::size_t reads = plan_->operands.size() + 1;
  for (const node_id i : plan_->operands)
    if (i != ir::no_node) plan_->each_member(i, [&](node_id) { ++reads; });
  const heap_array<reader> readers(reads);
  std::int32_t count = 1;
  const auto cell_of = [&](node_id i) {
    if (const std::int32_t b = block_of(i); b >= 0) return b;
    const plan_node& n = plan_->nodes[i];
    return n.is_in(storage_kind::variable) ? blocks + n.slot : cells;
  };
  for (std::size_t s = 0; s < size(); ++s) {
    const plan_step& step = plan_->steps[s];
    const auto self = static_cast<step_id>(s);
    for (int k = 0; k <= step.operands + step.outputs; ++k) {
      const bool writes = k >= step.operands;  // after its reads
      const node_id used = used_node(step, !writes ? k : k == step.operands ? -1 : k - 1);
      if (used == ir::no_node) continue;
      plan_->each_member(
          used, [&](node_id one) __attribute__((cold, noinline)) {
            const std::int32_t c = cell_of(one);
            if (c == cells) return;
            add_edge(writer[c], self);
            if (!writes) {
              readers[count] = {self, head[c]};
              head[c] = count++;
              return;
            }
            for (std::int32_t r = head[c]; r != 0; r = readers[r].next) add_edge(readers[r].step, self);
            head[c] = 0;
            writer[c] = self;
          });
    }
  }
}

TAGMA_COLD TAGMA_DECL void step_graph::find_ancestors() {
  words_ = (size() + 63) / 64;
  ancestors_.allocate(size() * words_);
  pass_ancestors_on();
}

TAGMA_COLD TAGMA_DECL void step_graph::pass_ancestors_on() {
  for (std::size_t s = 0; s < size(); ++s)
    for (std::int32_t e = steps_[s].first; e != 0; e = edges_[e].next) {
      std::uint64_t* const after = row(ancestors_, edges_[e].after);
      for (std::size_t w = 0; w <= s / 64; ++w) after[w] |= row(ancestors_, s)[w];
      after[s / 64] |= std::uint64_t{1} << (s % 64);
    }
}

}  // namespace tagma::plan
