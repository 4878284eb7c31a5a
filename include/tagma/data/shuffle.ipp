// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of shuffle.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/shuffle.hpp"

namespace tagma::datasets::detail {

TAGMA_COLD TAGMA_DECL std::exception_ptr error_of_end() {
  try {
    fail(status_code::failed_precondition,
         "a function threw end_of_data before a shuffle that asks for elements by their numbers; leave elements out "
         "by take or filter");
  } catch (...) {
    return std::current_exception();
  }
}

TAGMA_COLD TAGMA_DECL got refuse_end(std::exception_ptr& error) {
  error = detail::error_of_end();
  return got::error;
}

TAGMA_DECL extent* shuffle_buffer::lacking() {
  if (open_ == none) {
    if (ended_ || static_cast<extent>(slots_.size()) >= most_) return nullptr;
    open_ = slots_.size();
    slots_.push(0);
  }
  return &slots_[open_];
}

TAGMA_COLD TAGMA_DECL void shuffle_buffer::end() {
  ended_ = true;
  slots_.remove(open_);
  open_ = none;
}

TAGMA_DECL extent shuffle_buffer::draw() {
  const std::size_t slot = draws_.below(slots_.size());
  const extent held = slots_[slot];
  ++drawn_;
  if (ended_)
    slots_.remove(slot);
  else
    open_ = slot;
  return held;
}

}  // namespace tagma::datasets::detail
