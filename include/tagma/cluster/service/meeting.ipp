// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of meeting.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/cluster/service/meeting.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

/// Whether a message with so many bytes of bulk can have such a tensor.
TAGMA_DECL bool can_be(const tensor_spec& spec, std::uint64_t bytes) {
  if (spec.type == dtype::string) return static_cast<std::uint64_t>(spec.dims.elements()) <= bytes / 8;
  return spec.type != dtype::none && static_cast<std::uint64_t>(bytes_of(spec)) == bytes;
}

TAGMA_COLD TAGMA_DECL error cannot_be(const edge_of_run& e, std::uint64_t bytes) {
  return error(status_code::invalid_argument,
               sentence({"edge ", e.edge, ": ", to_string(e.spec), " has no ", bytes, " bytes"}));
}

/// Views of texts go where they are wanted, and the bytes that they are in are kept there.
TAGMA_COLD TAGMA_DECL void hand_over_texts(runtime::receive_attempt& to, const edge_of_run& e,
                                           std::vector<std::byte>& elements) {
  elements_reader reader({elements.data(), elements.size()});
  text_elements texts;
  try {
    texts = reader.take_texts(e.spec);
    reader.end();
  } catch (const error& problem) {
    throw error(problem.code(), sentence({"edge ", e.edge, ": ", runtime::without_code(problem.what())}));
  }
  std::byte* const where = to.place(e.spec);
  if (where == nullptr) return;
  texts.write(reinterpret_cast<string_element*>(where));
  to.keep(std::move(elements));
}

TAGMA_COLD TAGMA_DECL void hand_over(runtime::receive_attempt& to, const edge_of_run& e,
                                     std::vector<std::byte> elements) noexcept {
  std::exception_ptr problem;
  try {
    if (!can_be(e.spec, elements.size())) throw cannot_be(e, elements.size());
    if (e.spec.type == dtype::string) {
      hand_over_texts(to, e, elements);
    } else {
      std::byte* const where = to.place(e.spec);
      if (where != nullptr && !elements.empty()) std::memcpy(where, elements.data(), elements.size());
    }
  } catch (...) {
    problem = std::current_exception();
  }
  to.ended(problem);
}

}  // namespace detail

TAGMA_COLD TAGMA_DECL error too_many_texts(const edge_of_run& e, std::uint64_t bytes, std::uint64_t most) {
  return error(status_code::resource_exhausted, sentence({"edge ", e.edge, ": ", to_string(e.spec), " has ", bytes,
                                                          " bytes, and ", most, " is what a connection buffers"}));
}

TAGMA_DECL void meeting::check() const {
  if (aborted_ != nullptr) std::rethrow_exception(aborted_);
}

TAGMA_DECL void meeting::leave(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt,
                               std::string texts) {
  const raw_view& v = attempt.value;
  const edge_of_run e{graph_, step_, edge, {v.type, v.dims}};
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::tensor);
  m.body = e.body();
  if (v.bytes() == 0) {
    out_(task, std::move(m));
    return attempt.ended(nullptr);
  }
  auto* const leaves = new detail::leaving(attempt, std::move(texts));
  m.bulk = leaves->bulk();
  m.attempt = leaves;
  out_(task, std::move(m));
}

TAGMA_DECL void meeting::send(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt) {
  std::string texts;
  if (attempt.value.type == dtype::string) add_elements(texts, attempt.value);
  {
    const std::lock_guard<mutex> lock(mutex_);
    check();
    state& s = edges_[edge];
    if (!s.is_wanted && (texts.empty() ? attempt.value.bytes() : texts.size()) > eager_bytes) {
      s.sends = &attempt;
      s.texts = std::move(texts);
      s.peer = task;
      return;
    }
  }
  leave(edge, task, attempt, std::move(texts));
}

TAGMA_DECL void meeting::wanted(std::int32_t edge) {
  runtime::send_attempt* attempt = nullptr;
  std::int32_t task = 0;
  std::string texts;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr) return;
    state& s = edges_[edge];
    s.is_wanted = !TAGMA_BROKEN(early_wish_forgotten);
    attempt = std::exchange(s.sends, nullptr);
    texts = std::exchange(s.texts, {});
    task = s.peer;
  }
  if (attempt != nullptr) leave(edge, task, *attempt, std::move(texts));
}

TAGMA_DECL void meeting::receive(std::int32_t edge, std::int32_t task, runtime::receive_attempt& attempt) {
  tensor_spec spec;
  std::vector<std::byte> elements;
  bool has_come = false;
  std::exception_ptr refused;
  {
    const std::lock_guard<mutex> lock(mutex_);
    check();
    state& s = edges_[edge];
    has_come = s.has_come;
    refused = s.refused;
    if (refused == nullptr && !has_come) {
      s.receives = &attempt;
      s.peer = task;
    } else if (refused == nullptr) {
      spec = s.spec;
      elements.swap(s.elements);
    }
  }
  if (refused != nullptr) return attempt.ended(refused);
  if (has_come) return detail::hand_over(attempt, {graph_, step_, edge, spec}, std::move(elements));
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::wanted);
  m.body = edge_of_run{graph_, step_, edge, {}}.body();
  out_(task, std::move(m));
}

TAGMA_DECL transport::placement meeting::place(transport::link& from, const transport::incoming& bulk,
                                               const edge_of_run& e) {
  if (!detail::can_be(e.spec, bulk.bulk_size)) {
    const error why = detail::cannot_be(e, bulk.bulk_size);
    refuse(e.edge, why);
    return transport::placement::refused(why);
  }
  const bool texts = e.spec.type == dtype::string;
  runtime::receive_attempt* attempt = nullptr;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr) return transport::placement::refused(error(status_code::aborted, "the run is over"));
    state& s = edges_[e.edge];
    if (s.has_come || s.from != nullptr)
      return transport::placement::refused(
          error(status_code::already_exists, sentence({"edge ", e.edge, " comes twice"})));
    attempt = s.receives;
    if (attempt == nullptr && bulk.bulk_size > eager_bytes)
      return transport::placement::refused(
          error(status_code::aborted, sentence({"edge ", e.edge, ": nobody waits for ", bulk.bulk_size, " bytes"})));
    if (attempt == nullptr) return transport::placement::buffered();
    s.from = &from;
    s.transfer = bulk.transfer;
    if (texts) return transport::placement::buffered();  // how much room they need is known when they are there
    s.receives = nullptr;
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

TAGMA_DECL void meeting::received(const transport::link& from, transport::incoming& bulk, const edge_of_run& e) {
  runtime::receive_attempt* attempt = nullptr;
  std::vector<std::byte> elements = std::move(bulk.buffer);
  bool is_there = false;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (aborted_ != nullptr && edges_.find(e.edge) == edges_.end()) return;
    state& s = edges_[e.edge];
    if (s.from != nullptr && (s.from != &from || s.transfer != bulk.transfer)) return;  // it comes twice
    is_there = s.from != nullptr && e.spec.type != dtype::string;
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
  detail::hand_over(*attempt, e, std::move(elements));
}

TAGMA_DECL void meeting::abandoned(const transport::link& from, std::uint32_t transfer, std::int32_t edge,
                                   const error& why) {
  runtime::receive_attempt* attempt = nullptr;
  {
    const std::lock_guard<mutex> lock(mutex_);
    state& s = edges_[edge];
    if (s.from != &from || s.transfer != transfer) return;  // one that came before anybody waited
    s.from = nullptr;
    attempt = std::exchange(s.receives, nullptr);
  }
  if (attempt != nullptr) attempt->ended(std::make_exception_ptr(why));
}

TAGMA_COLD TAGMA_DECL void meeting::refuse(std::int32_t edge, const error& why) {
  runtime::receive_attempt* attempt = nullptr;
  {
    const std::lock_guard<mutex> lock(mutex_);
    state& s = edges_[edge];
    if (s.from != nullptr || s.has_come) return;
    attempt = std::exchange(s.receives, nullptr);
    if (attempt == nullptr) s.refused = std::make_exception_ptr(why);
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
      s.sends = nullptr, s.texts = {};
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
      if (s.sends != nullptr) ends.push_back(std::exchange(s.sends, nullptr)), s.texts = {};
      if (s.receives != nullptr) ends.push_back(std::exchange(s.receives, nullptr));
    }
  }
  for (runtime::exchange_attempt* const a : ends) a->ended(std::make_exception_ptr(why));
}

}  // namespace tagma::service
