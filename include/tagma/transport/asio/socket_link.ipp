// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of socket_link.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/socket_link.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <algorithm>
#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tagma/runtime/wait_word.hpp"

namespace tagma::transport::asio {

namespace detail {

/// What one link may read before others have their turn.
TAGMA_DECL constexpr std::size_t turn_bytes = 2 * 1024 * 1024;
/// As what it counts to look whether there is something: the other end may say so again and again.
TAGMA_DECL constexpr std::size_t least_turn = 4096;
/// How long who has said why it closes waits for the other end to read that.
TAGMA_DECL constexpr std::int64_t drain_ns = 1'000'000'000;
/// For one attempt to connect.
TAGMA_DECL constexpr std::int64_t attempt_ns = 3'000'000'000;

}  // namespace detail

TAGMA_DECL socket_link::socket_link(std::shared_ptr<link_thread> with, connection::setting s,
                                    std::shared_ptr<handler> told, std::shared_ptr<const tls_identity> proof)
    : driven_link(s, std::move(told), runtime::now_ns()),
      thread_(std::move(with)),
      socket_(thread_->context()),
      timer_(thread_->context()),
      again_(thread_->context()),
      resolver_(thread_->context()),
      which_(s.which) {
  if (proof != nullptr) tls_ = std::make_unique<tls_channel>(which_, std::move(proof));
}

TAGMA_DECL void socket_link::wake() { thread_->wake(shared_from_this()); }

TAGMA_DECL bool socket_link::is_here() const { return thread_->is_here(); }

TAGMA_DECL std::int64_t socket_link::clock() const { return runtime::now_ns(); }

TAGMA_DECL void socket_link::seek(const place& where, std::int64_t until) {
  where_ = where;
  until_ = until;
  if (over_) return;
  drive();  // calls that wait have deadlines
  if (over_) return;
  if (where.is_unix) {
    there_ = {net::local::stream_protocol::endpoint(where.path)};
    return try_next();
  }
  boost::system::error_code no;
  const net::ip::address number = net::ip::make_address(where.host, no);
  if (!no) {
    there_ = {net::ip::tcp::endpoint(number, static_cast<std::uint16_t>(std::stoi(where.port)))};
    return try_next();
  }
  // Nobody waits for names that a network no longer needs.
  const auto found = [weak = weak_from_this()](boost::system::error_code e, const auto& entries) {
    const std::shared_ptr<socket_link> self = weak.lock();
    if (self == nullptr || self->over_) return;
    for (const auto& entry : entries) self->there_.push_back(entry.endpoint());
    self->why_ = "nobody answers there";
    if (e == net::error::host_not_found)
      self->try_again("the host was not found");
    else
      e ? self->try_again("the host was not found: " + e.message()) : self->try_next();
    self->thread_->drive_awake();
  };
  if (why_.empty()) why_ = "the host was not found in time";
  resolver_.async_resolve(where.host, where.port, found);
}

TAGMA_DECL void socket_link::try_next() {
  const endpoint to = there_.front();
  there_.erase(there_.begin());
  boost::system::error_code e;
  socket_.close(e);
  socket_.open(to.protocol(), e);
  if (e) return there_.empty() ? try_again(e.message()) : try_next();
  socket_.async_connect(to, [self = shared_from_this()](boost::system::error_code failed) {
    if (self->over_) return;
    if (failed && !self->there_.empty()) return self->try_next();
    if (failed)
      self->try_again(failed == net::error::operation_aborted ? "nobody answers there" : failed.message());
    else
      self->connected();
    self->thread_->drive_awake();
  });
  // Where nobody answers, an attempt takes minutes: the system asks ever more rarely, by the way that it knew first. So
  // there are several; the time that is left for all is kept by a timer.
  again_.expires_after(std::chrono::nanoseconds(detail::attempt_ns));
  again_.async_wait([self = shared_from_this()](boost::system::error_code ended) {
    if (ended || self->over_ || self->running_) return;
    self->socket_.close(ended);
  });
  plan_timer();
}

TAGMA_DECL void socket_link::try_again(std::string_view why) {
  if (clock() >= until_) return fails(why);
  why_ = why;
  const std::int64_t pause = std::min(pause_ns_, until_ - clock());
  pause_ns_ = std::min<std::int64_t>(pause_ns_ * 2, 250'000'000);
  again_.expires_after(std::chrono::nanoseconds(pause));
  again_.async_wait([self = shared_from_this()](boost::system::error_code e) {
    if (e || self->over_) return;
    self->seek(self->where_, self->until_);
    self->thread_->drive_awake();
  });
}

TAGMA_DECL void socket_link::connected() {
  boost::system::error_code e, f;
  const endpoint own = socket_.local_endpoint(e), other = socket_.remote_endpoint(f);
  // A port of this machine that nobody listens at may have been given to this very socket, which then talks to itself.
  if (e || f || own == other) return try_again(e || f ? "the connection broke" : "nobody listens there");
  begin(std::move(socket_));
}

TAGMA_DECL void socket_link::begin(stream_socket socket) {
  socket_ = std::move(socket);
  detail::make_ready(socket_);
  running_ = true;
  again_.cancel();
  was_stranger_ = true;
  with_connection([&](connection& c) { c.begin(clock()); });
  if (tls_ != nullptr) tls_->meet();  // who connects speaks first
  drive();
  if (!over_) wait_to_read();
}

TAGMA_DECL void socket_link::wait_to_read() {
  if (reading_ || over_) return;
  reading_ = true;
  socket_.async_wait(stream_socket::wait_read, [self = shared_from_this()](boost::system::error_code e) {
    self->reading_ = false;
    if (self->over_ || e == net::error::operation_aborted) return;
    self->read();
    self->thread_->drive_awake();
  });
}

/// @param room for how many bytes there was room
TAGMA_DECL std::size_t socket_link::read_some(std::size_t& room, boost::system::error_code& e) {
  if (tls_ != nullptr) {
    const std::span<std::byte> to = tls_->receive_into();
    room = to.size();
    const std::size_t n = socket_.read_some(net::buffer(to.data(), to.size()), e);
    tls_->received(n);
    if (n > 0) decipher();
    return n;
  }
  return with_connection([&](connection& c) {
    const inlet_room to = c.receive_into();
    room = to.first.size() + to.second.size();
    const std::array both{net::buffer(to.first.data(), to.first.size()),
                          net::buffer(to.second.data(), to.second.size())};
    const std::size_t n = to.second.empty() ? socket_.read_some(both[0], e) : socket_.read_some(both, e);
    if (n > 0) c.received(n, clock());
    return n;
  });
}

TAGMA_DECL void socket_link::distrust(status_code code, std::string_view how) {
  with_connection([&](connection& c) { c.distrust(code, how); });
}

/// What came through TLS.
TAGMA_DECL void socket_link::decipher() {
  if (tls_->heard_no_tls()) {
    // Whoever speaks plainly is answered so, and is told that alone.
    tls_.reset();
    return distrust(status_code::permission_denied,
                    which_ == side::connects
                        ? "it speaks without TLS, and this end has certificates: give them to both, or to none"
                        : "it speaks without TLS, which is needed here: give it certificates (--tls-ca, --tls-cert, "
                          "--tls-key)");
  }
  const bool was_open = tls_->is_open();
  tls_->meet();
  if (tls_->is_open() && !was_open) with_connection([&](connection& c) { c.certified(tls_->names()); });
  for (bool more = true; more;) {
    more = with_connection([&](connection& c) {
      if (c.is_over() || c.receives_there()) return false;
      const std::size_t n = tls_->read(c.receive_into().first);
      if (n > 0) c.received(n, clock());
      return n > 0;
    });
  }
  // Behind that are bytes which only wake.
  if (with_connection([](const connection& c) { return c.receives_there(); })) return;
  if (const std::optional<error>& why = tls_->failure(); why && why->code() != status_code::unavailable)
    distrust(why->code(), sentence_of(*why));
}

/// Goes over to memory, as far as both ends are.
TAGMA_DECL void socket_link::consider_memory() {
  with_connection([&](connection& c) {
    if (c.can_offer()) {
      if (detail::is_one_host(socket_)) memory_ = segment::make();
      memory_ != nullptr ? c.offer(memory_->where()) : c.stay();
    } else if (const std::optional<std::string> where = c.offered()) {
      std::optional<error> why = error(status_code::failed_precondition, "it is on another machine");
      if (detail::is_one_host(socket_)) memory_ = segment::find(*where, why);
      c.answer_offer(memory_ == nullptr ? why : std::nullopt);
    } else if (memory_ != nullptr && c.stays()) {
      memory_.reset();
    } else if (memory_ != nullptr && c.receives_there()) {
      memory_->found();
    }
  });
}

/// Bytes go to memory, and those that go to the socket only wake: nothing else waits to be sent there.
TAGMA_DECL bool socket_link::writes_memory() {
  return with_connection([](const connection& c) { return c.sends_there(); }) &&
         (tls_ == nullptr || tls_->to_send().empty());
}

/// Whoever waits at the other end looks what there is. Who has bytes that it has not read is awake.
TAGMA_DECL void socket_link::wake_other() {
  const std::byte any{};
  boost::system::error_code e;
  if (writes_memory() && memory_->is_to_wake()) (void)socket_.write_some(net::buffer(&any, 1), e);
}

TAGMA_DECL void socket_link::go_on_soon() {
  if (goes_on_) return;
  goes_on_ = true;
  net::post(thread_->context(), [self = shared_from_this()] {
    self->goes_on_ = false;
    if (self->over_) return;
    self->read();
    self->drive();
    self->thread_->drive_awake();
  });
}

TAGMA_DECL void socket_link::read_memory() {
  std::array<std::byte, 256> scratch;
  boost::system::error_code e;
  (void)socket_.read_some(net::buffer(scratch.data(), scratch.size()), e);
  const bool ended = e && e != net::error::would_block && e != net::error::interrupted;
  bool more = true;
  for (std::size_t turn = 0; more && !over_ && turn < detail::turn_bytes;) {
    const std::size_t n = with_connection([&](connection& c) {
      const std::size_t came = memory_->read(c.receive_into());
      if (came > 0) c.received(came, clock());
      return came;
    });
    if (memory_->is_broken())
      distrust(status_code::data_loss, "it broke the protocol: its positions in shared memory are none");
    wake_other();
    drive();
    turn += std::max(n, detail::least_turn);
    more = n > 0 || (!over_ && !memory_->waits_to_read());
  }
  if (over_) return;
  if (more)
    go_on_soon();
  else if (ended)
    return fails(e == net::error::eof ? "it closed the connection" : e.message());
  if (!ended) wait_to_read();
}

TAGMA_DECL void socket_link::write_memory() {
  wake_other();  // which had to wait until it was sent that this end has moved
  for (std::size_t turn = 0; turn < detail::turn_bytes;) {
    std::span<const std::byte> pieces[16];
    const std::size_t count = with_connection([&](connection& c) { return c.gather(pieces, clock()); });
    if (count == 0) return;
    const std::size_t n = memory_->write(std::span(pieces).first(count));
    with_connection([&](connection& c) { c.sent(n, clock()); });
    take_wishes();
    wake_other();
    if (memory_->is_broken())
      return distrust(status_code::data_loss, "it broke the protocol: its positions in shared memory are none");
    if (n == 0 && memory_->waits_to_write()) return;
    turn += std::max(n, detail::least_turn);
  }
  go_on_soon();
}

TAGMA_DECL void socket_link::read() {
  if (with_connection([](const connection& c) { return c.receives_there(); })) return read_memory();
  std::size_t turn = 0;
  while (!over_ && turn < detail::turn_bytes) {
    boost::system::error_code e;
    std::size_t room = 0;
    const std::size_t n = read_some(room, e);
    if (e && e != net::error::would_block && e != net::error::interrupted)
      fails(e == net::error::eof ? "it closed the connection" : e.message());
    else if (n > 0)
      drive();
    turn += n;
    if (!over_ && with_connection([](const connection& c) { return c.receives_there(); })) return read_memory();
    if (e || n < room) break;
  }
  wait_to_read();
}

TAGMA_DECL void socket_link::write() {
  while (running_ && !writing_ && !deaf_) {
    if (writes_memory()) return write_memory();
    std::span<const std::byte> pieces[16];
    std::size_t count = 0;
    const bool is_ready = tls_ == nullptr || (tls_->is_open() && tls_->to_send().empty());
    if (is_ready) count = with_connection([&](connection& c) { return c.gather(pieces, clock()); });
    if (tls_ != nullptr) {
      if (count > 0) {
        const std::size_t said = tls_->write(std::span(pieces).first(count));
        with_connection([&](connection& c) { c.sent(said, clock()); });
        take_wishes();
      }
      pieces[0] = tls_->to_send();
      count = pieces[0].empty() ? 0 : 1;
    }
    if (count == 0) return;
    std::array<net::const_buffer, 16> buffers{};
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      buffers[i] = net::buffer(pieces[i].data(), pieces[i].size());
      size += pieces[i].size();
    }
    boost::system::error_code e;
    const std::size_t n = count == 1 ? socket_.write_some(buffers[0], e) : socket_.write_some(buffers, e);
    if (e && e != net::error::would_block && e != net::error::interrupted) {
      // The other end may have said why, which is read first.
      deaf_ = true;
      return;
    }
    if (tls_ != nullptr) {
      tls_->sent(n);
    } else {
      with_connection([&](connection& c) { c.sent(n, clock()); });
      take_wishes();
    }
    if (n == size) continue;
    writing_ = true;
    socket_.async_wait(stream_socket::wait_write, [self = shared_from_this()](boost::system::error_code failed) {
      self->writing_ = false;
      if (failed || self->over_) return;
      self->drive();
      self->thread_->drive_awake();
    });
  }
}

TAGMA_DECL void socket_link::drive() {
  if (over_) return;
  take_wishes();
  with_connection([&](connection& c) {
    if (c.next_timer() <= clock()) c.advance(clock());
  });
  take_wishes();
  consider_memory();
  write();
  show();
  bool open = false, ended = false;
  with_connection([&](connection& c) {
    open = c.is_open();
    ended = c.is_over();
  });
  if (open && was_stranger_) {
    was_stranger_ = false;
    thread_->known(this);
  }
  ended ? finish() : plan_timer();
}

TAGMA_DECL void socket_link::plan_timer() {
  const std::int64_t due =
      std::min(with_connection([](connection& c) { return c.next_timer(); }), running_ ? INT64_MAX : until_);
  if (due >= timer_due_ || over_) return;
  timer_due_ = due;
  timer_.expires_after(std::chrono::nanoseconds(std::max<std::int64_t>(due - clock(), 0)));
  timer_.async_wait([self = shared_from_this()](boost::system::error_code e) {
    if (e || self->over_) return;
    self->timer_due_ = INT64_MAX;
    // Bytes that came while this process slept are a sign of life.
    if (self->running_) self->read();
    if (!self->running_ && self->clock() >= self->until_)
      self->fails(self->why_.empty() ? "nobody answers there" : self->why_);
    else
      self->drive();
    self->thread_->drive_awake();
  });
}

TAGMA_DECL void socket_link::fails(std::string_view how) {
  if (over_) return;
  with_connection([&](connection& c) { c.broken(how, clock()); });
  running_ = false;
  finish();
}

/// The connection is over. What is still to be said is said, as far as the socket takes it at once.
TAGMA_DECL void socket_link::finish() {
  if (over_) return;
  over_ = true;
  memory_.reset();  // links may be kept for long
  shut();
  thread_->known(this);
  timer_.cancel();
  again_.cancel();
  resolver_.cancel();
  boost::system::error_code e;
  if (!running_) {
    socket_.close(e);
    return thread_->over(shared_from_this());
  }
  if (tls_ != nullptr) {
    tls_->close();
    if (!writing_) (void)socket_.write_some(net::buffer(tls_->to_send().data(), tls_->to_send().size()), e);
  }
  // A socket that is closed with bytes unread takes back what it has sent last.
  socket_.cancel(e);
  socket_.shutdown(stream_socket::shutdown_send, e);
  timer_.expires_after(std::chrono::nanoseconds(detail::drain_ns));
  timer_.async_wait([self = shared_from_this()](boost::system::error_code) {
    boost::system::error_code ignored;
    self->socket_.close(ignored);
  });
  drain();
}

TAGMA_DECL void socket_link::drain() {
  socket_.async_wait(stream_socket::wait_read, [self = shared_from_this()](boost::system::error_code e) {
    std::array<std::byte, 4096> scratch;
    for (int i = 0; i < 64 && !e; ++i) (void)self->socket_.read_some(net::buffer(scratch.data(), scratch.size()), e);
    if (!e || e == net::error::would_block) return self->drain();
    self->timer_.cancel();
    self->socket_.close(e);
    self->thread_->over(self);
  });
}

TAGMA_DECL void socket_link::stop() {
  if (!over_) {
    with_connection(
        [](connection& c) { c.abort(error(status_code::cancelled, "the network of the process was stopped")); });
    drive();
  }
  boost::system::error_code e;
  socket_.close(e);
}

TAGMA_DECL void socket_link::crowded_out() {
  with_connection([](connection& c) {
    c.abort(error(status_code::resource_exhausted, "too many connections have not proven who they are"));
  });
  drive();
}

}  // namespace tagma::transport::asio

#endif
