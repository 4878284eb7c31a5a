// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of pipe_end.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/memory/pipe_end.hpp"

namespace tagma::transport::memory {

TAGMA_DECL pipe_end::pipe_end(std::shared_ptr<network::shared> with, connection::setting s,
                              std::shared_ptr<handler> told)
    : driven_link(std::move(s), std::move(told), runtime::now_ns()), network_(std::move(with)) {}

TAGMA_DECL void pipe_end::wake() {
  const mutex_lock lock(network_->mutex);
  network_->awake.push_back(shared_from_this());
  if (network_->awake.size() == 1) network_->changed.notify_all();
}

TAGMA_DECL bool pipe_end::is_here() const { return network_->thread.load() == pthread_self(); }

TAGMA_DECL std::int64_t pipe_end::clock() const { return runtime::now_ns(); }

TAGMA_DECL void pipe_end::meet(const std::shared_ptr<pipe_end>& other) {
  other_ = other;
  with_connection([&](connection& c) { c.begin(clock()); });
  wake();
}

TAGMA_DECL void pipe_end::fails(std::string_view how) {
  with_connection([&](connection& c) { c.broken(how, clock()); });
  wake();
}

TAGMA_DECL void pipe_end::stop() {
  if (dead_) return;
  with_connection(
      [](connection& c) { c.abort(error(status_code::cancelled, "the network of the process was stopped")); });
  drive();
}

TAGMA_DECL std::size_t pipe_end::take(std::span<const std::byte> bytes) {
  return with_connection([&](connection& c) {
    const inlet_room room = c.receive_into();
    const std::size_t n = std::min(bytes.size(), room.first.size());
    std::memcpy(room.first.data(), bytes.data(), n);
    c.received(n, clock());
    return n;
  });
}

TAGMA_DECL bool pipe_end::move() {
  const std::shared_ptr<pipe_end> to = other_.lock();
  if (to == nullptr || to->dead_) return false;
  std::span<const std::byte> pieces[16];
  const std::size_t count = with_connection([&](connection& c) { return c.gather(pieces, clock()); });
  for (std::size_t i = 0; i < count; ++i) {
    for (std::span<const std::byte> left = pieces[i]; !left.empty();) left = left.subspan(to->take(left));
    with_connection([&](connection& c) { c.sent(pieces[i].size(), clock()); });
  }
  return count > 0;
}

TAGMA_DECL void pipe_end::drive() {
  if (dead_) return;
  const std::shared_ptr<pipe_end> to = other_.lock();
  bool moved = true;
  while (moved) {
    take_wishes();
    if (to != nullptr) to->take_wishes();
    moved = move();
    if (to != nullptr && to->move()) moved = true;
  }
  with_connection([&](connection& c) {
    if (c.next_timer() <= clock()) c.advance(clock());
  });
  move();
  show();
  if (!with_connection([](connection& c) { return c.is_over(); })) return;
  dead_ = true;
  shut();
  if (to != nullptr && !to->dead_) to->fails("it closed the connection");
}

TAGMA_DECL std::int64_t pipe_end::due() {
  return dead_ ? INT64_MAX : with_connection([](connection& c) { return c.next_timer(); });
}

}  // namespace tagma::transport::memory
