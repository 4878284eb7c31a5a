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
  plan_memory(accelerator& from, const bound_plan& plan);

  [[nodiscard]] TAGMA_DECL std::byte* arena(std::int16_t d, std::int64_t bytes) override;
  [[nodiscard]] TAGMA_DECL std::byte* scalars(std::int16_t d, array_view<std::byte> values) override;
  [[nodiscard]] TAGMA_DECL std::byte* feed(ir::node_id id) override;
  TAGMA_DECL void stage(array_view<const raw_view> feeds) override;

 private:
  accelerator& from_;
  const bound_plan& plan_;
  heap_array<owned<memory_block>> arenas_;   // one a device
  heap_array<owned<memory_block>> scalars_;  // one a device
  heap_array<owned<memory_block>> feeds_;    // one a feed, where a copy to a device reads it
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/plan_memory.ipp"
#endif
