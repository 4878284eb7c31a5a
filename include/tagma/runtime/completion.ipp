// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of completion.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/completion.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void completion::fail(std::exception_ptr error) const noexcept {
  target_->complete(step_, static_cast<std::exception_ptr&&>(error));
}

TAGMA_COLD TAGMA_DECL void completion::fail(status_code code, std::string_view text) const noexcept {
  try {
    tagma::fail(code, text);
  } catch (...) {
    fail(std::current_exception());
  }
}

TAGMA_COLD TAGMA_DECL void completion::cancel() const noexcept {
  fail(status_code::cancelled, "the operation was cancelled");
}

}  // namespace tagma::runtime
