// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Somebody other than a run is in a container.

#include "tagma/base/config.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::service {

/// Enters a container that keeps runs apart as a run does, and leaves it at its end. In one that keeps each variable by
/// itself there is nothing to enter.
class container_visit {
 public:
  /// Throws what `limits` say when it is not let in before.
  container_visit(runtime::state_container& of, bool exclusive, const run_limits& limits = runtime::no_limits)
      : of_(of), exclusive_(exclusive) {
    if (is_gated()) of_.runs().enter(exclusive, runtime::run_guard(limits));
  }
  container_visit(const container_visit&) = delete;
  container_visit& operator=(const container_visit&) = delete;
  ~container_visit() {
    if (is_gated()) of_.runs().leave(exclusive_);
  }

 private:
  [[nodiscard]] bool is_gated() const { return of_.access() == nullptr; }

  runtime::state_container& of_;
  bool exclusive_;
};

}  // namespace tagma::service
