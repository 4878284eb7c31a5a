// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of asked_call.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/asked_call.hpp"

namespace tagma::service {

TAGMA_DECL bool asked_call::is_wanted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return wanted_;
}

TAGMA_DECL void asked_call::drop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_ = false;
}

TAGMA_DECL void asked_call::end() {
  std::shared_ptr<transport::link> by;
  std::uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wanted_ = false;
    ends_ = true;
    by = link_.lock();
    number = number_;
  }
  if (by != nullptr) by->cancel(number);
}

TAGMA_DECL void asked_call::sent(const std::shared_ptr<transport::link>& by, std::uint64_t number) {
  bool ends = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    link_ = by;
    number_ = number;
    ends = ends_;
  }
  if (ends) by->cancel(number);
}

}  // namespace tagma::service
