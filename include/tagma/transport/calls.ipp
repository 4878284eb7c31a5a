// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of calls.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/calls.hpp"

namespace tagma::transport {

TAGMA_DECL void calls::start(std::uint64_t number, call& with, std::int64_t deadline_ns) {
  open_[number] = {&with, deadline_ns, 0};
  deadlines_.emplace(deadline_ns, number);
}

TAGMA_DECL call* calls::find(std::uint64_t number) const {
  const auto at = open_.find(number);
  return at == open_.end() ? nullptr : at->second.with;
}

TAGMA_DECL call* calls::take(std::uint64_t number) {
  const auto at = open_.find(number);
  if (at == open_.end()) return nullptr;
  call* const with = at->second.with;
  deadlines_.erase({at->second.deadline_ns, number});
  open_.erase(at);
  return with;
}

TAGMA_DECL void calls::arrives(std::uint64_t number, std::uint32_t transfer) {
  const auto at = open_.find(number);
  if (at != open_.end()) at->second.transfer = transfer;
}

TAGMA_DECL std::uint32_t calls::transfer_of(std::uint64_t number) const {
  const auto at = open_.find(number);
  return at == open_.end() ? 0 : at->second.transfer;
}

TAGMA_DECL std::uint64_t calls::late(std::int64_t now) const {
  return next_deadline() <= now ? deadlines_.begin()->second : 0;
}

TAGMA_DECL std::int64_t calls::next_deadline() const {
  if (TAGMA_BROKEN(call_never_ended)) return INT64_MAX;
  return deadlines_.empty() ? INT64_MAX : deadlines_.begin()->first;
}

}  // namespace tagma::transport
