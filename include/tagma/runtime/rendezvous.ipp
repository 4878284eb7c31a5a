// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of rendezvous.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/runtime/rendezvous.hpp"

namespace tagma::runtime {

namespace detail {

/// Writes views of texts whose characters are copied. Returns those.
TAGMA_COLD TAGMA_DECL std::vector<std::byte> copy_texts(const raw_view& from, std::byte* to) {
  const view<const string_element> texts = from.as<string_element>();
  auto* const views = reinterpret_cast<string_element*>(to);
  std::vector<std::byte> characters(handed_over_bytes(from) - 8 * texts.size());
  char* at = reinterpret_cast<char*>(characters.data());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const string_element t = texts.data()[i];
    if (!t.empty()) std::memcpy(at, t.data(), t.size());
    views[i] = {at, t.size()};
    at += t.size();
  }
  return characters;
}

}  // namespace detail

TAGMA_DECL std::size_t handed_over_bytes(const raw_view& value) {
  if (value.type != dtype::string) return value.bytes();
  std::size_t bytes = 0;
  for (const std::string_view t : value.as<string_element>()) bytes += 8 + t.size();
  return bytes;
}

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
  bytes_ += static_cast<std::int64_t>(handed_over_bytes(both.sender->value));
  return both;
}

TAGMA_DECL void local_rendezvous::hand_over(const side& both) noexcept {
  std::exception_ptr problem;
  try {
    const raw_view& from = both.sender->value;
    std::byte* const to = both.receiver->place({from.type, from.dims});
    if (to != nullptr && from.type == dtype::string)
      both.receiver->keep(detail::copy_texts(from, to));
    else if (to != nullptr && from.bytes() > 0)
      std::memcpy(to, from.data, from.bytes());
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
