// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of rendezvous.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/runtime/rendezvous.hpp"

namespace tagma::runtime {

TAGMA_DECL local_rendezvous::side local_rendezvous::meet(std::int32_t edge, const side& comes) {
  const mutex_lock lock(mutex_);
  if (aborted_ != nullptr) std::rethrow_exception(aborted_);
  side& there = waiting_[edge];
  if ((comes.sender != nullptr && there.sender != nullptr) || (comes.receiver != nullptr && there.receiver != nullptr))
    fail(status_code::internal, {"rendezvous: edge ", edge, " is used twice in a run"});
  if (comes.sender != nullptr) there.sender = comes.sender;
  if (comes.receiver != nullptr) there.receiver = comes.receiver;
  const side both = there;
  if (both.sender == nullptr || both.receiver == nullptr) return {};
  waiting_.erase(edge);
  bytes_ += static_cast<std::int64_t>(both.sender->value.bytes());
  return both;
}

TAGMA_DECL void local_rendezvous::hand_over(const side& both) noexcept {
  std::exception_ptr problem;
  try {
    const raw_view& from = both.sender->value;
    std::byte* const to = both.receiver->place({from.type, from.dims});
    if (to != nullptr && from.bytes() > 0) std::memcpy(to, from.data, from.bytes());
  } catch (...) {
    problem = std::current_exception();
  }
  both.sender->ended(nullptr);
  both.receiver->ended(problem);
}

TAGMA_DECL void local_rendezvous::send(std::int32_t edge, std::int32_t, send_attempt& attempt) {
  if (const side both = meet(edge, {&attempt, nullptr}); both.sender != nullptr) hand_over(both);
}

TAGMA_DECL void local_rendezvous::receive(std::int32_t edge, std::int32_t, receive_attempt& attempt) {
  if (const side both = meet(edge, {nullptr, &attempt}); both.sender != nullptr) hand_over(both);
}

TAGMA_DECL void local_rendezvous::cancel(std::int32_t edge, exchange_attempt& attempt) noexcept {
  {
    const mutex_lock lock(mutex_);
    const auto found = waiting_.find(edge);
    if (found == waiting_.end() || (found->second.sender != &attempt && found->second.receiver != &attempt)) return;
    waiting_.erase(found);
  }
  attempt.ended(std::make_exception_ptr(error(status_code::cancelled, "the run was told to stop")));
}

TAGMA_DECL void local_rendezvous::abort(const error& why) {
  std::map<std::int32_t, side> left;
  {
    const mutex_lock lock(mutex_);
    if (aborted_ == nullptr) aborted_ = std::make_exception_ptr(why);
    left.swap(waiting_);
  }
  for (const auto& [edge, one] : left) {
    if (one.sender != nullptr) one.sender->ended(std::make_exception_ptr(why));
    if (one.receiver != nullptr) one.receiver->ended(std::make_exception_ptr(why));
  }
}

TAGMA_DECL std::int64_t local_rendezvous::bytes() const {
  const mutex_lock lock(mutex_);
  return bytes_;
}

}  // namespace tagma::runtime
