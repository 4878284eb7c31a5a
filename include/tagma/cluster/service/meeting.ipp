// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of meeting.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/meeting.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

TAGMA_COLD TAGMA_DECL void hand_over(runtime::receive_attempt& to, const tensor_spec& spec,
                                     const std::vector<std::byte>& elements) noexcept {
  std::exception_ptr problem;
  try {
    std::byte* const where = to.place(spec);
    if (where != nullptr && !elements.empty()) std::memcpy(where, elements.data(), elements.size());
  } catch (...) {
    problem = std::current_exception();
  }
  to.ended(problem);
}

}  // namespace detail

TAGMA_DECL void meeting::check() const {
  if (aborted_ != nullptr) std::rethrow_exception(aborted_);
}

TAGMA_DECL void meeting::leave(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt) {
  const raw_view& v = attempt.value;
  const edge_of_run e{graph_, step_, edge, {v.type, v.dims}};
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::tensor);
  m.body = e.body();
  m.bulk = {static_cast<const std::byte*>(v.data), v.bytes()};
  if (m.bulk.empty()) {
    out_(task, std::move(m));
    return attempt.ended(nullptr);
  }
  m.attempt = new detail::leaving(attempt);
  out_(task, std::move(m));
}

TAGMA_DECL void meeting::send(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt) {
  {
    const std::lock_guard<mutex> lock(mutex_);
    check();
    state& s = edges_[edge];
    if (!s.is_wanted && attempt.value.bytes() > eager_bytes) {
      s.sends = &attempt;
      s.peer = task;
      return;
    }
  }
  leave(edge, task, attempt);
}

TAGMA_DECL void meeting::wanted(std::int32_t edge) {
  runtime::send_attempt* attempt = nullptr;
  std::int32_t task = 0;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr) return;
    state& s = edges_[edge];
    s.is_wanted = !TAGMA_BROKEN(early_wish_forgotten);
    attempt = std::exchange(s.sends, nullptr);
    task = s.peer;
  }
  if (attempt != nullptr) leave(edge, task, *attempt);
}

TAGMA_DECL void meeting::receive(std::int32_t edge, std::int32_t task, runtime::receive_attempt& attempt) {
  tensor_spec spec;
  std::vector<std::byte> elements;
  {
    const std::lock_guard<mutex> lock(mutex_);
    check();
    state& s = edges_[edge];
    if (!s.has_come) {
      s.receives = &attempt;
      s.peer = task;
    } else {
      spec = s.spec;
      elements.swap(s.elements);
    }
  }
  if (spec.type != dtype::none) return detail::hand_over(attempt, spec, elements);
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::wanted);
  m.body = edge_of_run{graph_, step_, edge, {}}.body();
  out_(task, std::move(m));
}

TAGMA_DECL transport::placement meeting::place(transport::link& from, const transport::incoming& bulk,
                                               const edge_of_run& e) {
  if (static_cast<std::uint64_t>(bytes_of(e.spec)) != bulk.bulk_size)
    return transport::placement::refused(
        error(status_code::invalid_argument,
              sentence({"edge ", e.edge, ": ", to_string(e.spec), " has no ", bulk.bulk_size, " bytes"})));
  runtime::receive_attempt* attempt = nullptr;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr) return transport::placement::refused(error(status_code::aborted, "the run is over"));
    state& s = edges_[e.edge];
    if (s.has_come || s.from != nullptr)
      return transport::placement::refused(
          error(status_code::already_exists, sentence({"edge ", e.edge, " comes twice"})));
    attempt = std::exchange(s.receives, nullptr);
    if (attempt == nullptr) return transport::placement::buffered();
    s.from = &from;
    s.transfer = bulk.transfer;
  }
  std::exception_ptr problem;
  try {
    if (std::byte* const where = attempt->place(e.spec); where != nullptr) {
      const std::lock_guard<mutex> lock(mutex_);
      edges_[e.edge].receives = attempt;
      return transport::placement::at(where);
    }
    fail(status_code::internal, {"edge ", e.edge, ": nothing takes ", to_string(e.spec)});
  } catch (...) {
    problem = std::current_exception();
  }
  {
    const std::lock_guard<mutex> lock(mutex_);
    edges_[e.edge].from = nullptr;
  }
  attempt->ended(problem);
  return transport::placement::refused(error(status_code::invalid_argument, "it does not fit where it is read"));
}

TAGMA_DECL void meeting::received(transport::incoming& bulk, const edge_of_run& e) {
  runtime::receive_attempt* attempt = nullptr;
  std::vector<std::byte> elements = std::move(bulk.buffer);
  bool is_there = false;
  if (static_cast<std::uint64_t>(bytes_of(e.spec)) != bulk.bulk_size || e.spec.type == dtype::none) return;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr && edges_.find(e.edge) == edges_.end()) return;
    state& s = edges_[e.edge];
    is_there = s.from != nullptr;
    s.from = nullptr;
    attempt = std::exchange(s.receives, nullptr);
    if (attempt == nullptr && TAGMA_BROKEN(early_edge_dropped)) return;
    s.has_come = true;
    if (attempt == nullptr) {
      s.spec = e.spec;
      s.elements = std::move(elements);
      return;
    }
  }
  if (is_there) return attempt->ended(nullptr);
  detail::hand_over(*attempt, e.spec, elements);
}

TAGMA_DECL void meeting::abandoned(std::int32_t edge, const error& why) {
  runtime::receive_attempt* attempt = nullptr;
  {
    const std::lock_guard<mutex> lock(mutex_);
    state& s = edges_[edge];
    if (std::exchange(s.from, nullptr) == nullptr) return;
    attempt = std::exchange(s.receives, nullptr);
  }
  if (attempt != nullptr) attempt->ended(std::make_exception_ptr(why));
}

TAGMA_DECL void meeting::cancel(std::int32_t edge, runtime::exchange_attempt& attempt) noexcept {
  {
    const std::lock_guard<mutex> lock(mutex_);
    const auto found = edges_.find(edge);
    if (found == edges_.end()) return;
    state& s = found->second;
    if (s.from != nullptr && s.receives == &attempt) return s.from->discard(s.transfer);
    if (s.sends == &attempt)
      s.sends = nullptr;
    else if (s.receives == &attempt)
      s.receives = nullptr;
    else
      return;
  }
  attempt.ended(std::make_exception_ptr(error(status_code::cancelled, "the run was told to stop")));
}

TAGMA_COLD TAGMA_DECL std::vector<meeting::waiting_edge> meeting::waiting() {
  std::vector<waiting_edge> all;
  const std::lock_guard<mutex> lock(mutex_);
  for (const auto& [edge, s] : edges_) {
    if (s.from != nullptr)
      all.push_back({edge, s.peer, run_list::wait::arrives});
    else if (s.receives != nullptr)
      all.push_back({edge, s.peer, run_list::wait::comes});
    else if (s.sends != nullptr)
      all.push_back({edge, s.peer, run_list::wait::wanted});
  }
  return all;
}

TAGMA_DECL void meeting::abort(const error& why) {
  std::vector<runtime::exchange_attempt*> ends;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ == nullptr) aborted_ = std::make_exception_ptr(why);
    for (auto& [edge, s] : edges_) {
      if (s.from != nullptr) {
        s.from->discard(s.transfer);
        continue;
      }
      if (s.sends != nullptr) ends.push_back(std::exchange(s.sends, nullptr));
      if (s.receives != nullptr) ends.push_back(std::exchange(s.receives, nullptr));
    }
  }
  for (runtime::exchange_attempt* const a : ends) a->ended(std::make_exception_ptr(why));
}

}  // namespace tagma::service
