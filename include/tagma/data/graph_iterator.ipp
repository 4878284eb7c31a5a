// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of graph_iterator.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/graph_iterator.hpp"

namespace tagma::datasets::detail {

TAGMA_DECL void awaited_position::wait(const runtime::iterator& of) {
  done_.wait();
  of.settle();
  if (error_ != nullptr) std::rethrow_exception(error_);
}

TAGMA_DECL void awaited_position::ended(std::exception_ptr error) noexcept {
  error_ = std::move(error);
  done_.set();
}

}  // namespace tagma::datasets::detail
