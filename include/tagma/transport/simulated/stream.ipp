// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of stream.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/transport/simulated/stream.hpp"

namespace tagma::transport::simulated {

TAGMA_DECL stream::stream(network& home, connection::setting s, std::shared_ptr<handler> with)
    : driven_link(std::move(s), std::move(with), home.now()), home_(home), world_(home.world_), life_(home.life_) {}

TAGMA_DECL void stream::meet(const std::shared_ptr<stream>& other) {
  other_ = other;
  with_connection([&](connection& c) { c.begin(clock()); });
  drive();
}

TAGMA_DECL void stream::fails(std::string_view how) {
  with_connection([&](connection& c) { c.broken(how, clock()); });
  drive();
}

TAGMA_DECL void stream::wake() { plan_drive(world_.now_); }

TAGMA_DECL void stream::plan_drive(std::int64_t when) {
  if (planned_ || dead_) return;
  planned_ = true;
  world_.at(when, [self = shared_from_this()] {
    self->planned_ = false;
    self->drive();
  });
}

TAGMA_DECL void stream::comes(std::string bytes, std::int64_t when) {
  last_arrival_ = std::max(last_arrival_ + 1, when);
  pipe_ += bytes.size();
  coming_.push_back(std::move(bytes));
  world_.at(last_arrival_, [self = shared_from_this()] { self->arrive(); });
}

TAGMA_DECL void stream::arrive() {
  if (dead_ || coming_.empty()) return;
  const stream* const from = other();
  if (from != nullptr && world_.is_parted(home_, from->home_)) {
    ++held_;
    return;
  }
  world_.note(home_.name_, coming_.front().size());
  if (coming_.front().empty()) ended_ = true;
  unread_ += coming_.front();
  coming_.pop_front();
  drive();
}

TAGMA_DECL void stream::release() {
  for (; held_ > 0; --held_) world_.at(world_.now_, [self = shared_from_this()] { self->arrive(); });
}

TAGMA_DECL std::size_t stream::some_of(std::size_t n) {
  constexpr std::uint64_t sizes[] = {1, 7, 48, 300, 5000, 70'000, 1'000'000};
  if (!world_.weather.splits) return n;
  return std::min<std::size_t>(n, 1 + world_.dice_.below(sizes[world_.dice_.below(7)]));
}

TAGMA_DECL void stream::read() {
  std::size_t at = 0;
  while (at < unread_.size()) {
    const std::size_t n = with_connection([&](connection& c) {
      const inlet_room room = c.receive_into();
      const std::size_t size = some_of(std::min(unread_.size() - at, room.first.size() + room.second.size()));
      const std::size_t first = std::min(size, room.first.size());
      std::memcpy(room.first.data(), unread_.data() + at, first);
      if (size > first) std::memcpy(room.second.data(), unread_.data() + at + first, size - first);
      c.received(size, clock());
      return size;
    });
    at += n;
    take_wishes();
  }
  unread_.clear();
  pipe_ -= at;
  if (at > 0)
    if (stream* const from = other()) from->plan_drive(world_.now_ + world_.draw_delay());
  if (ended_) with_connection([&](connection& c) { c.broken("it closed the connection", clock()); });
}

TAGMA_DECL void stream::write() {
  const std::shared_ptr<stream> to = other_.lock();
  if (to == nullptr || told_end_) return;
  std::span<const std::byte> pieces[16];
  for (;;) {
    const std::size_t most = world_.weather.pipe_bytes - std::min(to->pipe_, world_.weather.pipe_bytes);
    const std::size_t count = with_connection([&](connection& c) { return c.gather(pieces, clock()); });
    if (count == 0 || most == 0) break;
    std::string bytes;
    for (std::size_t i = 0; i < count && bytes.size() < most; ++i)
      bytes.append(reinterpret_cast<const char*>(pieces[i].data()), std::min(pieces[i].size(), most - bytes.size()));
    bytes.resize(some_of(bytes.size()));
    const std::size_t size = bytes.size();
    std::int64_t when = world_.now_ + world_.draw_delay();
    if (world_.weather.bytes_per_second > 0)
      when = std::max(when, to->last_arrival_) +
             static_cast<std::int64_t>(size) * 1'000'000'000 / world_.weather.bytes_per_second;
    to->comes(std::move(bytes), when);
    with_connection([&](connection& c) { c.sent(size, clock()); });
    take_wishes();
  }
}

TAGMA_DECL void stream::drive() {
  if (dead_) return;
  if (home_.stopped_until_ns_ > world_.now_) return plan_drive(home_.stopped_until_ns_);
  take_wishes();
  read();
  with_connection([&](connection& c) {
    if (c.next_timer() <= clock()) c.advance(clock());
  });
  take_wishes();
  write();
  if (with_connection([](connection& c) { return c.is_over(); })) {
    shut();
    if (const std::shared_ptr<stream> to = other_.lock(); to != nullptr && !told_end_) to->comes({}, world_.now_);
    told_end_ = true;
    dead_ = true;
    return;
  }
  show();
  plan_timer();
}

TAGMA_DECL void stream::plan_timer() {
  const std::int64_t due = with_connection([](connection& c) { return c.next_timer(); });
  if (due == INT64_MAX) return;
  const std::int64_t when = std::max(world_.now_, due - home_.clock_ahead_ns_);
  if (when >= timer_ && timer_ > world_.now_) return;
  timer_ = when;
  world_.at(when, [self = shared_from_this(), when] {
    if (self->timer_ != when) return;
    self->timer_ = INT64_MAX;
    self->drive();
  });
}

TAGMA_DECL void stream::breaks(std::string_view how) {
  if (dead_) return;
  coming_.clear();
  unread_.clear();
  other_.reset();
  fails(how);
}

TAGMA_DECL void stream::dies() {
  dead_ = told_end_ = true;
  vanish();
}

}  // namespace tagma::transport::simulated
