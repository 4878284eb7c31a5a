// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of meter.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/meter.hpp"

namespace tagma::datasets {

TAGMA_DECL void stage_counters::hold(std::int64_t n) {
  const std::int64_t now = held_bytes.fetch_add(n, memory_order::relaxed) + n;
  for (std::int64_t most = most_bytes.load(memory_order::relaxed); now > most;
       most = most_bytes.load(memory_order::relaxed))
    if (most_bytes.replace(most, now)) break;
}

TAGMA_DECL stage_counters* meter::find(const any_stage* stage) const {
  for (std::size_t i = 0; i < count_; ++i)
    if (stages_[i] == stage) return &counters_[i];
  return nullptr;
}

TAGMA_DECL void meter::asked(const stage_counters& of, std::int64_t begun, std::int64_t ended) {
  if (&of != counters_.data()) return;
  if (begun_.load(memory_order::relaxed) == never) begun_.store(begun, memory_order::relaxed);
  ended_.store(ended, memory_order::relaxed);
  stage_counters::add(asked_ns_, ended - begun);
}

TAGMA_DECL std::int64_t meter::elapsed_ns() const {
  const std::int64_t begun = begun_.load(memory_order::relaxed);
  return begun == never ? 0 : ended_.load(memory_order::relaxed) - begun;
}

}  // namespace tagma::datasets
