// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of network.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/memory/network.hpp"
#include "tagma/transport/sha256.hpp"

namespace tagma::transport::memory {

namespace detail {

/// How long who connects waits before it tries again.
TAGMA_DECL constexpr std::int64_t again_ns = 5'000'000;

TAGMA_DECL digest draw_nonce() {
  digest d{};
  draw_random_bytes(d.data(), d.size());
  return d;
}

}  // namespace detail

TAGMA_DECL network::network() : thread_([this] { run(); }) {}

TAGMA_DECL network::~network() {
  {
    const mutex_lock lock(shared_->mutex);
    shared_->stops = true;
    shared_->changed.notify_all();
  }
  thread_.join();
}

TAGMA_DECL options network::local(options how) {
  how.insecure = how.insecure || how.secret.empty();
  how.checksums = false;
  return how;
}

TAGMA_DECL std::int64_t network::now() const { return runtime::now_ns(); }

TAGMA_DECL void network::after(std::int64_t ns, std::function<void()> what) {
  const std::int64_t when = runtime::later(now(), ns);
  const mutex_lock lock(shared_->mutex);
  shared_->later.emplace(std::pair(when, shared_->planned++), std::move(what));
  shared_->changed.notify_all();
}

TAGMA_DECL std::shared_ptr<link> network::connect(const std::string& address, const options& how,
                                                  std::shared_ptr<handler> with, std::int64_t within_ns) {
  const connection::setting s{side::connects, local(how), detail::draw_nonce(), address, true};
  auto made = std::make_shared<pipe_end>(shared_, s, std::move(with));
  {
    const mutex_lock lock(shared_->mutex);
    shared_->fresh.push_back(made);
  }
  after(0, [this, made, address, until = runtime::later(now(), within_ns)] { try_connect(made, address, until); });
  return made;
}

TAGMA_DECL void network::try_connect(const std::shared_ptr<pipe_end>& from, const std::string& address,
                                     std::int64_t until) {
  if (from->is_dead()) return;
  listener at;
  {
    const mutex_lock lock(listeners_mutex_);
    const auto found = listeners_.find(address);
    if (found != listeners_.end()) at = found->second;
  }
  if (!at.accept) {
    if (now() >= until) return from->fails("nobody listens there");
    return after(std::min(detail::again_ns, until - now()),
                 [this, from, address, until] { try_connect(from, address, until); });
  }
  std::shared_ptr<handler> with = at.accept();
  if (with == nullptr) return from->fails("it takes no connections");
  const connection::setting s{side::accepts, at.how, detail::draw_nonce(), "who connects to " + address, true};
  const auto made = std::make_shared<pipe_end>(shared_, s, std::move(with));
  ends_.push_back(made);
  made->meet(from);
  from->meet(made);
}

TAGMA_DECL std::string network::listen(const std::string& address, const options& how, acceptor accept) {
  const mutex_lock lock(listeners_mutex_);
  if (listeners_.count(address) != 0) fail(status_code::already_exists, {"somebody listens at ", address, " already"});
  listeners_[address] = {local(how), std::move(accept)};
  return address;
}

TAGMA_DECL void network::stop_listening(const std::string& address) {
  {
    const mutex_lock lock(listeners_mutex_);
    listeners_.erase(address);
  }
  if (shared_->thread.load() == pthread_self()) return;
  const auto done = std::make_shared<latch>();
  after(0, [done] { done->open(); });
  done->wait();
}

TAGMA_DECL void network::run() {
  std::vector<std::shared_ptr<pipe_end>> awake;
  std::vector<std::function<void()>> due;
  shared_->mutex.lock();
  shared_->thread.store(pthread_self());
  while (!shared_->stops) {
    std::int64_t next = INT64_MAX;
    const std::int64_t time = now();
    awake.swap(shared_->awake);
    ends_.insert(ends_.end(), shared_->fresh.begin(), shared_->fresh.end());
    shared_->fresh.clear();
    while (!shared_->later.empty() && shared_->later.begin()->first.first <= time)
      due.push_back(std::move(shared_->later.extract(shared_->later.begin()).mapped()));
    shared_->mutex.unlock();
    for (const auto& what : due) what();
    for (const auto& end : awake) end->drive();
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const std::shared_ptr<pipe_end> end = ends_[i];
      if (end->due() <= now()) end->drive();
      next = std::min(next, end->due());
    }
    std::erase_if(ends_, [](const auto& end) { return end->is_dead(); });
    awake.clear();
    due.clear();
    shared_->mutex.lock();
    if (!shared_->later.empty()) next = std::min(next, shared_->later.begin()->first.first);
    if (!shared_->stops && shared_->awake.empty() && next > now()) {
      if (next == INT64_MAX)
        shared_->changed.wait(shared_->mutex);
      else
        shared_->changed.wait_for(shared_->mutex, next - now());
    }
  }
  const auto later = std::exchange(shared_->later, {});
  std::vector<std::shared_ptr<pipe_end>> ends = std::exchange(shared_->fresh, {});
  shared_->mutex.unlock();
  ends.insert(ends.end(), ends_.begin(), ends_.end());
  for (const auto& end : ends) end->stop();
  shared_->mutex.lock();
  awake.swap(shared_->awake);
  shared_->mutex.unlock();
}

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
  for (int round = 0; moved; ++round) {
    // Two ends that answer each other for ever leave the others their turn.
    if (round == 64) {
      wake();
      break;
    }
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
