// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory of the plans that have steps on devices that are no CPUs. Only what provides such devices includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma::runtime {

/// Memory of one bound plan, from the accelerator of its session.
class plan_memory final : public accelerated_memory {
 public:
  /// @param plan outlives this; it knows the extents of its nodes by the time that memory is asked for
  TAGMA_COLD plan_memory(accelerator& from, const bound_plan& plan)
      : from_(from), plan_(plan), arenas_(plan.plan().devices.size()), scalars_(arenas_.size()), feeds_(plan.feeds()) {}

  [[nodiscard]] TAGMA_COLD std::byte* arena(std::int16_t d, std::int64_t bytes) override {
    owned<memory_block>& block = arenas_[d];
    block =
        from_.allocate(plan_.device_at(d).number, bytes, {detail::describe(plan_.plan()), plan_.largest_tensors(d)});
    return block->data;
  }
  [[nodiscard]] TAGMA_COLD std::byte* scalars(std::int16_t d, array_view<std::byte> values) override {
    owned<memory_block>& block = scalars_[d];
    if (!block) {
      const int number = plan_.device_at(d).number;
      block = from_.allocate(number, static_cast<std::int64_t>(values.size()), {"the scalars of a plan"});
      from_.copy({block->data, number}, {values.data(), on_host}, values.size());
    }
    return block->data;
  }
  [[nodiscard]] TAGMA_COLD std::byte* feed(ir::node_id id) override {
    const plan::plan_node& n = plan_.plan().nodes[id];
    owned<memory_block>& block = feeds_[n.slot];
    if (!block) block = from_.allocate(on_host, plan_.bytes_of(id), {"the feed of ", detail::describe(n)});
    return block->data;
  }
  void stage(array_view<const raw_view> feeds) override {
    for (std::size_t f = 0; f < feeds_.size(); ++f)
      if (feeds_[f] && feeds[f].bytes() > 0) std::memcpy(feeds_[f]->data, feeds[f].data, feeds[f].bytes());
  }

 private:
  accelerator& from_;
  const bound_plan& plan_;
  heap_array<owned<memory_block>> arenas_;   // one a device
  heap_array<owned<memory_block>> scalars_;  // one a device
  heap_array<owned<memory_block>> feeds_;    // one a feed, where a copy to a device reads it
};

}  // namespace tagma::runtime
