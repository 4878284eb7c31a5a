// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of socket_link.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/socket_link.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "tagma/runtime/wait_word.hpp"

namespace tagma::transport::asio {

namespace detail {

/// What one link may read before others have their turn.
TAGMA_DECL constexpr std::size_t turn_bytes = 2 * 1024 * 1024;
/// How long who has said why it closes waits for the other end to read that.
TAGMA_DECL constexpr std::int64_t drain_ns = 1'000'000'000;

TAGMA_DECL void set_number(stream_socket& socket, int level, int name, int value) {
  (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

}  // namespace detail

TAGMA_DECL socket_link::socket_link(std::shared_ptr<core> with, connection::setting s, std::shared_ptr<handler> told)
    : driven_link(std::move(s), std::move(told), runtime::now_ns()),
      core_(std::move(with)),
      socket_(core_->context()),
      timer_(core_->context()),
      again_(core_->context()),
      resolver_(core_->context()) {}

TAGMA_DECL std::int64_t socket_link::clock() const { return runtime::now_ns(); }

TAGMA_DECL void socket_link::seek(const place& where, std::int64_t until) {
  where_ = where;
  until_ = until;
  if (over_) return;
  drive();  // calls that wait have deadlines
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
    e ? self->try_again("its name is not known: " + e.message()) : self->try_next();
    self->core_->drive_awake();
  };
  resolver_.async_resolve(where.host, where.port, found);
}

TAGMA_DECL void socket_link::try_next() {
  const endpoint to = there_.front();
  there_.erase(there_.begin());
  boost::system::error_code e;
  socket_.close(e);
  socket_.open(to.protocol(), e);
  if (e) return there_.empty() ? try_again(e.message()) : try_next();
  // Where nobody answers, an attempt takes minutes; the time that is left is kept by a timer.
  socket_.async_connect(to, [self = shared_from_this()](boost::system::error_code failed) {
    if (self->over_) return;
    if (failed && !self->there_.empty()) return self->try_next();
    if (failed)
      self->try_again(failed.message());
    else
      self->connected();
    self->core_->drive_awake();
  });
  plan_timer();
}

TAGMA_DECL void socket_link::try_again(std::string_view why) {
  if (clock() >= until_) return fails(why);
  const std::int64_t pause = std::min(pause_ns_, until_ - clock());
  pause_ns_ = std::min<std::int64_t>(pause_ns_ * 2, 250'000'000);
  again_.expires_after(std::chrono::nanoseconds(pause));
  again_.async_wait([self = shared_from_this()](boost::system::error_code e) {
    if (e || self->over_) return;
    self->seek(self->where_, self->until_);
    self->core_->drive_awake();
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
  boost::system::error_code e;
  socket_.non_blocking(true, e);
  detail::set_number(socket_, IPPROTO_TCP, TCP_NODELAY, 1);  // which fails on Unix sockets
  running_ = true;
  was_stranger_ = true;
  with_connection([&](connection& c) { c.begin(clock()); });
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
    self->core_->drive_awake();
  });
}

TAGMA_DECL void socket_link::read() {
  std::size_t turn = 0;
  while (!over_ && turn < detail::turn_bytes) {
    boost::system::error_code e;
    std::size_t n = 0, room = 0;
    with_connection([&](connection& c) {
      const inlet_room to = c.receive_into();
      room = to.first.size() + to.second.size();
      if (to.second.empty())
        n = socket_.read_some(net::buffer(to.first.data(), to.first.size()), e);
      else
        n = socket_.read_some(
            std::array{net::buffer(to.first.data(), to.first.size()), net::buffer(to.second.data(), to.second.size())},
            e);
      if (n > 0) c.received(n, clock());
    });
    if (e && e != net::error::would_block && e != net::error::interrupted)
      fails(e == net::error::eof ? "it closed the connection" : e.message());
    else if (n > 0)
      drive();
    turn += n;
    if (e || n < room) break;
  }
  wait_to_read();
}

TAGMA_DECL void socket_link::write() {
  while (running_ && !writing_ && !deaf_) {
    std::span<const std::byte> pieces[16];
    const std::size_t count = with_connection([&](connection& c) { return c.gather(pieces, clock()); });
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
    with_connection([&](connection& c) { c.sent(n, clock()); });
    take_wishes();
    if (n == size) continue;
    writing_ = true;
    socket_.async_wait(stream_socket::wait_write, [self = shared_from_this()](boost::system::error_code failed) {
      self->writing_ = false;
      if (failed || self->over_) return;
      self->drive();
      self->core_->drive_awake();
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
  write();
  show();
  bool open = false, ended = false;
  with_connection([&](connection& c) {
    open = c.is_open();
    ended = c.is_over();
  });
  if (open && was_stranger_) {
    was_stranger_ = false;
    core_->known(this);
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
      self->fails("nobody answers there");
    else
      self->drive();
    self->core_->drive_awake();
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
  shut();
  core_->known(this);
  timer_.cancel();
  again_.cancel();
  resolver_.cancel();
  boost::system::error_code e;
  if (!running_) {
    socket_.close(e);
    return core_->over(shared_from_this());
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
    self->core_->over(self);
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
