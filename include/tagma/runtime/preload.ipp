// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of preload.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/preload.hpp"

namespace tagma::detail {

TAGMA_DECL gate_pass::gate_pass(runtime::state_container& of) : gate_(of.access() == nullptr ? &of.runs() : nullptr) {
  if (gate_ != nullptr) gate_->enter(true, runtime::run_guard(run_limits{}));
}

TAGMA_DECL gate_pass::~gate_pass() {
  if (gate_ != nullptr) gate_->leave(true);
}

}  // namespace tagma::detail
