// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of event.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/event.hpp"

namespace tagma::runtime {

TAGMA_DECL void event::set() {
  happened_.store(true, memory_order::release);
  changes_.change(true);
}

TAGMA_DECL void event::wait() {
  for (;;) {
    const std::uint32_t seen = changes_.load(memory_order::acquire);
    if (happened()) return;
    changes_.wait(seen);
  }
}

TAGMA_DECL bool event::wait(const run_guard& guard) {
  for (;;) {
    const std::uint32_t seen = changes_.load(memory_order::acquire);
    if (happened()) return true;
    if (guard.over() != status_code::ok) return false;
    guard.wait(changes_, seen);
  }
}

}  // namespace tagma::runtime
