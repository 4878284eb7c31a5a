// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/queue.hpp"

namespace tagma::detail {

TAGMA_DECL void awaited_attempt::wait(runtime::queue& of, const runtime::run_guard& guard) {
  const bool late = !done_.wait(guard);
  if (late) of.cancel(*this);
  of.settle();
  if (error_ == nullptr) return;  // a late one may have ended meanwhile
  if (late) guard.explain(guard.over(), sentence({" while it waited for ", of.text()}));
  std::rethrow_exception(error_);
}

TAGMA_DECL void awaited_attempt::ended(std::exception_ptr error) noexcept {
  error_ = static_cast<std::exception_ptr&&>(error);
  done_.set();
}

}  // namespace tagma::detail
