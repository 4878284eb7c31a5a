// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tells where the nodes of a bound plan run.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma {
namespace runtime {

/// Where each node runs and why, and each copy between devices, as lines of text.
[[nodiscard]] std::string placement_text(const bound_plan& bound);

/// The same to standard error.
void log_placement(const bound_plan& bound);

}  // namespace runtime

/// Whether standard error is told where each node runs and what is copied: `true` or `false`. What tells it is compiled
/// only into programs that have a `true` or a condition there.
class placement_log {
 public:
  constexpr placement_log() = default;
  constexpr placement_log(bool on) : write_(on ? &runtime::log_placement : nullptr) {}
  [[nodiscard]] constexpr explicit operator bool() const { return write_ != nullptr; }
  /// Tells of one plan, or nothing.
  void operator()(const runtime::bound_plan& bound) const;

 private:
  void (*write_)(const runtime::bound_plan& bound) = nullptr;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/placement_log.ipp"
#endif
