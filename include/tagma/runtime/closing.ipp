// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of closing.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/closing.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void closing::begin(bool reset) noexcept {
  if (reset && !begun()) reset_.store(true);
  begun_.store(true);
  const mutex_lock lock(mutex_);
  for (sleeper* s = first_; s != nullptr; s = s->next_) s->word_.change(true);
}

TAGMA_COLD TAGMA_DECL void closing::refuse(std::string_view purpose) const {
  if (reset_.load()) fail(status_code::aborted, {purpose, "the container of the session was reset"});
  fail(status_code::cancelled, {purpose, "Session has been closed."});
}

TAGMA_COLD TAGMA_DECL void closing::stop_run() const {
  if (reset_.load()) fail(status_code::aborted, "the run was cancelled, since the container of its session was reset");
  fail(status_code::cancelled, "the run was cancelled, since its session was closed");
}

TAGMA_COLD TAGMA_DECL closing::sleeper::sleeper(closing& of, wait_word& word) : closing_(of), word_(word) {
  const mutex_lock lock(of.mutex_);
  next_ = of.first_;
  if (next_ != nullptr) next_->before_ = this;
  of.first_ = this;
}

TAGMA_COLD TAGMA_DECL closing::sleeper::~sleeper() {
  const mutex_lock lock(closing_.mutex_);
  (before_ == nullptr ? closing_.first_ : before_->next_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
}

}  // namespace tagma::runtime
