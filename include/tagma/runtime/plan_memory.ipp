// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of plan_memory.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/plan_memory.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL plan_memory::plan_memory(accelerator& from, const bound_plan& plan)
    : from_(from), plan_(plan), arenas_(plan.plan().devices.size()), scalars_(arenas_.size()), feeds_(plan.feeds()) {}

TAGMA_DECL std::byte* plan_memory::arena(std::int16_t d, std::int64_t bytes) {
  owned<memory_block>& block = arenas_[d];
  block = from_.allocate(plan_.device_at(d).number, bytes, {detail::describe(plan_.plan()), plan_.largest_tensors(d)});
  return block->data;
}

TAGMA_DECL std::byte* plan_memory::scalars(std::int16_t d, array_view<std::byte> values) {
  owned<memory_block>& block = scalars_[d];
  if (!block) {
    const int number = plan_.device_at(d).number;
    block = from_.allocate(number, static_cast<std::int64_t>(values.size()), {"the scalars of a plan"});
    from_.copy({block->data, number}, {values.data(), on_host}, values.size());
  }
  return block->data;
}

TAGMA_DECL std::byte* plan_memory::feed(ir::node_id id) {
  const plan::plan_node& n = plan_.plan().nodes[id];
  owned<memory_block>& block = feeds_[n.slot];
  if (!block) block = from_.allocate(on_host, plan_.bytes_of(id), {"the feed of ", detail::describe(n)});
  return block->data;
}

TAGMA_DECL void plan_memory::stage(array_view<const raw_view> feeds) {
  for (std::size_t f = 0; f < feeds_.size(); ++f)
    if (feeds_[f] && feeds[f].bytes() > 0) std::memcpy(feeds_[f]->data, feeds[f].data, feeds[f].bytes());
}

}  // namespace tagma::runtime
