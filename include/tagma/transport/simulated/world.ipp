// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of world.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/simulated/world.hpp"

namespace tagma::transport::simulated {

namespace detail {

/// How long who connects waits before it tries again.
TAGMA_DECL constexpr std::int64_t again_ns = 20'000'000;

}  // namespace detail

TAGMA_DECL std::uint64_t dice::next() {
  const philox_block bits = random_block({.seed = seed_}, drawn_++);
  return std::uint64_t{bits[0]} << 32 | bits[1];
}

TAGMA_DECL std::int64_t network::now() const { return world_.now_ + clock_ahead_ns_; }

TAGMA_DECL std::uint64_t network::draw() { return world_.dice_.next(); }

TAGMA_DECL void network::sleep(const runtime::wait_word& at, std::int64_t end_ns) {
  threads_.sleep(at, end_ns == runtime::wait_word::never ? end_ns : end_ns - clock_ahead_ns_);
}

TAGMA_DECL void network::after(std::int64_t ns, std::function<void()> what) {
  world_.at(runtime::later(world_.now_, ns), [this, what = std::move(what)] {
    if (!alive_ && !ends_) return;
    if (stopped_until_ns_ > world_.now_) return after(stopped_until_ns_ - world_.now_, what);
    const at_home here(*this);
    what();
  });
}

TAGMA_DECL std::shared_ptr<link> network::connect(const std::string& address, const options& how,
                                                  std::shared_ptr<handler> with, std::int64_t within_ns) {
  const connection::setting s{side::connects, how, world_.draw_nonce(), address, true};
  const auto made = std::make_shared<stream>(*this, s, std::move(with));
  made->address = address;
  world_.streams_.push_back(made);
  world_.at(
      world_.now_ + world_.draw_delay(),
      [this, made, until = alive_ ? runtime::later(world_.now_, within_ns) : 0] { world_.try_connect(made, until); });
  return made;
}

TAGMA_DECL std::string network::listen(const std::string& address, const options& how, acceptor accept) {
  if (!alive_) fail(status_code::unavailable, {"the process that would listen at ", address, " is no more"});
  if (world_.listeners_.count(address) != 0)
    fail(status_code::already_exists, {"somebody listens at ", address, " already"});
  world_.listeners_[address] = {this, how, std::move(accept)};
  return address;
}

TAGMA_DECL void network::stop_listening(const std::string& address) {
  const auto found = world_.listeners_.find(address);
  if (found != world_.listeners_.end() && found->second.at == this) world_.listeners_.erase(found);
}

TAGMA_DECL world::~world() {
  const std::vector<std::shared_ptr<stream>> all = std::exchange(streams_, {});
  for (const auto& s : all)
    if (!s->is_dead()) s->dies();
}

TAGMA_DECL network& world::process(const std::string& name) {
  std::unique_ptr<network>& p = processes_[name];
  if (p == nullptr) p = std::make_unique<network>(*this, threads_, name);
  return *p;
}

TAGMA_DECL void world::at(std::int64_t ns, std::function<void()> what) {
  events_.push_back({std::max(ns, now_), planned_++, std::move(what)});
  std::push_heap(events_.begin(), events_.end());
}

TAGMA_DECL void world::note(std::string_view what, std::uint64_t number) {
  const auto mix = [this](std::uint64_t n) { history_ = (history_ ^ n) * 0x100000001b3u; };
  for (const char c : what) mix(static_cast<unsigned char>(c));
  mix(number);
  mix(static_cast<std::uint64_t>(now_));
}

TAGMA_DECL bool world::step() {
  if (events_.empty()) return false;
  std::pop_heap(events_.begin(), events_.end());
  const event next = std::move(events_.back());
  events_.pop_back();
  now_ = next.when;
  note("event", next.number);
  ++happened_;
  next.what();
  if (happened_ % 64 == 0) std::erase_if(streams_, [](const auto& s) { return s->is_dead(); });
  return true;
}

TAGMA_DECL void world::run_until(std::int64_t ns) {
  while (is_due(ns)) (void)step();
  now_ = std::max(now_, ns);
}

TAGMA_DECL bool world::comes(const std::function<bool()>& so, std::int64_t within_ns) {
  const std::int64_t end = runtime::later(now_, within_ns);
  while (!so()) {
    if (!is_due(end)) return false;
    (void)step();
  }
  return true;
}

TAGMA_DECL bool world::is_parted(const network& a, const network& b) const {
  return parted_.count(std::minmax(a.name_, b.name_)) != 0;
}

TAGMA_DECL digest world::draw_nonce() {
  digest d{};
  for (auto& byte : d) byte = static_cast<std::uint8_t>(dice_.next());
  return d;
}

TAGMA_DECL std::int64_t world::draw_delay() {
  const std::int64_t more = weather.jitter_ns;
  return weather.delay_ns + (more > 0 ? static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(more))) : 0);
}

TAGMA_DECL std::int64_t world::draw_turn() {
  return weather.turn_ns > 0 ? static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(weather.turn_ns))) : 0;
}

TAGMA_DECL void world::try_connect(const std::shared_ptr<stream>& from, std::int64_t until) {
  if (from->is_dead()) return;
  const auto found = listeners_.find(from->address);
  const bool there = from->home().is_alive() && found != listeners_.end() &&
                     !is_parted(from->home(), *found->second.at) && found->second.at->stopped_until_ns_ <= now_;
  if (!there) {
    if (now_ >= until) return from->fails("nobody listens there");
    at(now_ + detail::again_ns, [this, from, until] { try_connect(from, until); });
    return;
  }
  const listener at_it = found->second;
  std::shared_ptr<handler> with;
  {
    const at_home here(*at_it.at);
    with = at_it.accept();
  }
  if (with == nullptr) return from->fails("it takes no connections");
  const connection::setting s{side::accepts, at_it.how, draw_nonce(), "who connects from " + from->home().name(), true};
  const auto made = std::make_shared<stream>(*at_it.at, s, std::move(with));
  streams_.push_back(made);
  note("connected", 0);
  made->meet(from);
  from->meet(made);
}

TAGMA_DECL void world::cut(const std::string& a, const std::string& b) {
  note("cut", 0);
  const std::vector<std::shared_ptr<stream>> all = streams_;
  for (const auto& s : all) {
    stream* const to = s->other();
    if (to == nullptr || std::minmax(s->home().name(), to->home().name()) != std::minmax(a, b)) continue;
    const std::shared_ptr<stream> other = to->shared_from_this();
    s->breaks("the connection was reset");
    other->breaks("the connection was reset");
  }
}

TAGMA_DECL void world::part(const std::string& a, const std::string& b) { parted_.insert(std::minmax(a, b)); }

TAGMA_DECL void world::join(const std::string& a, const std::string& b) {
  parted_.erase(std::minmax(a, b));
  const std::vector<std::shared_ptr<stream>> all = streams_;
  for (const auto& s : all)
    if (s->other() != nullptr && !is_parted(s->home(), s->other()->home())) s->release();
}

TAGMA_DECL void world::stop(const std::string& name, std::int64_t ns) {
  network& p = process(name);
  p.stopped_until_ns_ = std::max(p.stopped_until_ns_, runtime::later(now_, ns));
}

TAGMA_DECL void world::restart(const std::string& name, bool silently) { end(name, silently, false); }

TAGMA_DECL void world::kill(const std::string& name, bool silently) { end(name, silently, true); }

TAGMA_DECL void world::end(const std::string& name, bool silently, bool told) {
  note("restart", silently ? 1 : 0);
  network& p = process(name);
  gone_.push_back(std::exchange(processes_[name], std::make_unique<network>(*this, threads_, name)));
  processes_[name]->clock_ahead_ns_ = p.clock_ahead_ns_;
  p.alive_ = false;
  p.ends_ = told;
  p.stopped_until_ns_ = 0;
  std::erase_if(listeners_, [&p](const auto& l) { return l.second.at == &p; });
  const std::vector<std::shared_ptr<stream>> all = streams_;
  for (const auto& s : all) {
    if (&s->home() != &p || s->is_dead()) continue;
    const std::shared_ptr<stream> to = s->other() == nullptr ? nullptr : s->other()->shared_from_this();
    told ? s->breaks("the process is no more") : s->dies();
    if (to != nullptr && !silently) to->comes({}, now_ + draw_delay());
  }
}

TAGMA_DECL void world::advance_clock(const std::string& name, std::int64_t ns) { process(name).clock_ahead_ns_ += ns; }

TAGMA_DECL stream::stream(network& home, connection::setting s, std::shared_ptr<handler> with)
    : driven_link(std::move(s), std::move(with), home.now()), home_(home), world_(home.world_) {}

TAGMA_DECL void stream::meet(const std::shared_ptr<stream>& other) {
  other_ = other;
  const at_home here(home_);
  with_connection([&](connection& c) { c.begin(clock()); });
  drive();
}

TAGMA_DECL void stream::fails(std::string_view how) {
  const at_home here(home_);
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
  const at_home here(home_);
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
  const at_home here(home_);
  dead_ = told_end_ = true;
  vanish();
}

}  // namespace tagma::transport::simulated
