// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the assignment to streams needs to know of the steps of a plan.

#include <cstdint>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/plan/step_graph.hpp"

namespace tagma::device::stream {

using step_id = plan::step_graph::step_id;

/// Who does a step: a kernel of a device, the host, or the part of a device that copies.
enum class step_kind : std::uint8_t { kernel, host, to_device, to_host, between };

/// Drivers whose devices one plan may have.
inline constexpr int most_drivers = 4;

/// One step as streams see it.
struct step {
  step_kind kind = step_kind::kernel;
  /// False if it must be launched anew for every run: its arguments are other ones each time.
  bool replayable = true;
  std::int16_t device = 0;    ///< whose stream it takes; of a copy between devices, the one that sends
  std::int16_t other = 0;     ///< of a copy between devices, the one that receives
  float cost = 1;             ///< how long it takes, in any unit that all steps share
  bool awaited = false;       ///< the host waits for it before it issues what follows: it reads what the step has found
  bool begins = false;        ///< no segment is recorded across its begin
  std::uint8_t driver = 0;    ///< of the device; a step waits for one of another driver by way of the host
  bool first_stream = false;  ///< a kernel that takes the first stream of its device, as it does every time in a loop
};

/// Steps in an order in which one thread could do them, and which earlier ones each waits for.
struct step_list {
  array_view<const step> steps;
  array_view<const std::int32_t> first_wait;  ///< where those of each step begin in `waits`; one more ends the last
  array_view<const step_id> waits;

  [[nodiscard]] std::size_t size() const { return steps.size(); }
  template <class Index>
  [[nodiscard]] array_view<const step_id> waits_of(Index s) const {
    return waits.subspan(first_wait[s], first_wait[s + 1] - first_wait[s]);
  }
};

/// Storage for the waits of a `step_list`, from the graph of a plan, which has them the other way around.
struct wait_lists {
  heap_array<std::int32_t> first_wait;
  heap_array<step_id> waits;

  TAGMA_COLD explicit wait_lists(const plan::step_graph& graph) : first_wait(graph.size() + 1) {
    for (std::size_t s = 0; s < graph.size(); ++s) first_wait[s + 1] = first_wait[s] + graph.waits(s);
    waits = heap_array<step_id>(first_wait[graph.size()]);
    const heap_array<std::int32_t> filled(graph.size());
    for (std::size_t s = 0; s < graph.size(); ++s)
      for (std::int32_t e = graph.first_edge(s); e != 0; e = graph[e].next) {
        const step_id after = graph[e].after;
        waits[first_wait[after] + filled[after]++] = static_cast<step_id>(s);
      }
  }
  [[nodiscard]] step_list with(array_view<const step> steps) const { return {steps, first_wait, waits}; }
};

}  // namespace tagma::device::stream
