// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of core.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/core.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tagma/runtime/wait_word.hpp"

namespace tagma::transport::asio {

namespace detail {

TAGMA_DECL digest draw_nonce() {
  digest d{};
  draw_random_bytes(d.data(), d.size());
  return d;
}

}  // namespace detail

TAGMA_DECL void core::start() {
  thread_ = std::thread([this] {
    thread_id_.store(pthread_self());
    context_.run();
  });
}

TAGMA_DECL void core::stop() {
  net::post(context_, [this] {
    {
      const mutex_lock lock(mutex_);
      for (const auto& [address, l] : listeners_) {
        boost::system::error_code e;
        l->socket.close(e);
        l->again.cancel();
        if (!l->path.empty()) (void)::unlink(l->path.c_str());
      }
      listeners_.clear();
    }
    timers_.clear();
    const std::set<std::shared_ptr<socket_link>> links = links_;
    for (const auto& l : links) l->stop();
    drive_awake();
    links_.clear();
    work_.reset();
    context_.stop();
  });
  thread_.join();
  // What was never called holds links, which hold this; all of it was cancelled, and is called now.
  context_.restart();
  while (context_.poll() > 0) context_.restart();
  const mutex_lock lock(mutex_);
  awake_.clear();
  posted_ = true;
}

TAGMA_DECL void core::wake(std::shared_ptr<socket_link> whom) {
  {
    const mutex_lock lock(mutex_);
    awake_.push_back(std::move(whom));
    if (posted_) return;
    posted_ = true;
  }
  if (!is_here()) return net::post(context_, [this] { drive_awake(); });
  // Whatever its own thread does ends with `drive_awake`.
}

TAGMA_DECL void core::drive_awake() {
  for (;;) {
    std::vector<std::shared_ptr<socket_link>> awake;
    {
      const mutex_lock lock(mutex_);
      awake.swap(awake_);
      posted_ = !awake.empty();
      if (awake.empty()) return;
    }
    for (const auto& l : awake) l->drive();
  }
}

TAGMA_DECL void core::known(const socket_link* who) { std::erase(strangers_, who); }

TAGMA_DECL void core::over(const std::shared_ptr<socket_link>& who) { links_.erase(who); }

TAGMA_DECL void core::report(status_code code, std::string_view text) {
  if (how_.report) how_.report(error(code, text));
}

TAGMA_DECL std::shared_ptr<const tls_identity> core::proves(options& how) {
  if (!how.tls.is_set()) return nullptr;
  how.insecure = true;
  how.checksums = false;
  const mutex_lock lock(mutex_);
  return identities_.read(how.tls);
}

TAGMA_DECL std::shared_ptr<link> core::connect(const std::string& address, options how, std::shared_ptr<handler> with,
                                               std::int64_t within_ns) {
  const place where = place_of(address);
  // What is local is known when an address has numbers; a name other than localhost needs a secret.
  boost::system::error_code no;
  const net::ip::address number = net::ip::make_address(where.host, no);
  if (how.secret.empty() && (where.is_unix || where.host == "localhost" || (!no && number.is_loopback())))
    how.insecure = true;
  auto proof = proves(how);
  const connection::setting s{side::connects, std::move(how), detail::draw_nonce(), address, true};
  auto made = std::make_shared<socket_link>(shared_from_this(), s, std::move(with), std::move(proof));
  net::post(context_, [this, made, where, until = runtime::now_ns() + within_ns] {
    links_.insert(made);
    made->seek(where, until);
    drive_awake();
  });
  return made;
}

TAGMA_DECL void core::open(const place& where, const std::shared_ptr<listener>& made) {
  endpoint at;
  boost::system::error_code e;
  if (where.is_unix) {
    at = net::local::stream_protocol::endpoint(where.path);
    if (detail::is_left_over(context_, at)) (void)::unlink(where.path.c_str());
  } else {
    net::ip::address number = net::ip::make_address(where.host, e);
    if (e) {
      e = {};
      net::ip::tcp::resolver resolver(context_);
      const auto found = resolver.resolve(where.host, where.port, e);
      if (e) fail(status_code::unavailable, {"cannot listen at ", made->address, ": ", e.message()});
      number = found.begin()->endpoint().address();
    }
    at = net::ip::tcp::endpoint(number, static_cast<std::uint16_t>(std::stoi(where.port)));
  }
  if (made->how.secret.empty() && !made->how.insecure) {
    if (!is_local(at))
      fail(status_code::permission_denied,
           {"others could connect to ", made->address,
            " and nothing would keep them out: give a secret or certificates, listen on loopback or a Unix socket, or "
            "say `insecure`"});
    made->how.insecure = true;
  }
  made->socket.open(at.protocol(), e);
  if (!e && !where.is_unix) made->socket.set_option(net::socket_base::reuse_address(true), e);
  if (!e) made->socket.bind(at, e);
  if (!e && where.is_unix && ::chmod(where.path.c_str(), 0600) != 0) e = {errno, boost::system::system_category()};
  if (!e) made->socket.listen(net::socket_base::max_listen_connections, e);
  if (!e) made->socket.non_blocking(true, e);
  if (e)
    fail(e == net::error::address_in_use ? status_code::already_exists : status_code::unavailable,
         {"cannot listen at ", made->address, ": ", e.message()});
  if (where.is_unix) made->path = where.path;
}

TAGMA_DECL std::string core::listen(const std::string& address, options how, acceptor accept) {
  const place where = place_of(address);
  const auto made = std::make_shared<listener>(context_, std::move(how), std::move(accept));
  made->address = address;
  if (const auto proof = proves(made->how); proof != nullptr) {
    const certificate_names names = tls_identities::names(*proof);
    if (const auto no = names.contradict(made->how.self, false))
      fail(status_code::invalid_argument,
           {"TLS: '", made->how.tls.certificate, "' is of no use at ", address, ": ", sentence_of(*no)});
  }
  open(where, made);
  if (!where.is_unix && where.port == "0") {
    const endpoint at = made->socket.local_endpoint();
    net::ip::tcp::endpoint tcp;
    std::copy_n(reinterpret_cast<const char*>(at.data()), at.size(), reinterpret_cast<char*>(tcp.data()));
    made->address = address.substr(0, address.size() - 1) + std::to_string(tcp.port());
  }
  {
    const mutex_lock lock(mutex_);
    listeners_[made->address] = made;
  }
  net::post(context_, [this, made] { take(made); });
  return made->address;
}

TAGMA_DECL void core::stop_listening(const std::string& address) {
  std::shared_ptr<listener> l;
  {
    const mutex_lock lock(mutex_);
    const auto at = listeners_.find(address);
    if (at == listeners_.end()) return;
    l = at->second;
    listeners_.erase(at);
  }
  if (!l->path.empty()) (void)::unlink(l->path.c_str());
  const auto end = [l] {
    boost::system::error_code e;
    l->socket.close(e);
    l->again.cancel();
  };
  if (is_here()) return end();
  const auto done = std::make_shared<latch>();
  net::post(context_, [end, done] {
    end();
    done->open();
  });
  done->wait();
}

TAGMA_DECL void core::take(const std::shared_ptr<listener>& at) {
  at->socket.async_accept([this, at](boost::system::error_code e, stream_socket socket) {
    if (e == net::error::operation_aborted || !at->socket.is_open()) return;
    if (!e) {
      taken(at, std::move(socket));
      take(at);
      return drive_awake();
    }
    const bool transient = e == net::error::connection_aborted || e == net::error::interrupted;
    if (transient) return take(at);
    report(status_code::resource_exhausted,
           sentence({at->address, " takes no connections for the moment: ", e.message()}));
    at->again.expires_after(std::chrono::milliseconds(100));
    at->again.async_wait([this, at](boost::system::error_code stopped) {
      if (!stopped && at->socket.is_open()) take(at);
    });
    drive_awake();
  });
}

TAGMA_DECL void core::taken(const std::shared_ptr<listener>& at, stream_socket socket) {
  if (!at->path.empty() && !detail::is_same_user(socket))
    return report(status_code::permission_denied, sentence({"a process of another user connected to ", at->address}));
  std::shared_ptr<handler> with = at->accept();
  if (with == nullptr) return;
  const connection::setting s{side::accepts, at->how, detail::draw_nonce(), "who connects to " + at->address, true};
  const auto made = std::make_shared<socket_link>(shared_from_this(), s, std::move(with), proves(at->how));
  links_.insert(made);
  strangers_.push_back(made.get());
  made->begin(std::move(socket));
  if (strangers_.size() <= how_.strangers) return;
  const socket_link* const oldest = strangers_.front();
  const auto found = std::find_if(links_.begin(), links_.end(), [oldest](const auto& l) { return l.get() == oldest; });
  strangers_.pop_front();
  if (found != links_.end()) std::shared_ptr<socket_link>(*found)->crowded_out();
}

TAGMA_DECL void core::after(std::int64_t ns, std::function<void()> what) {
  net::post(context_,
            [this, when = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns), what = std::move(what)] {
              const std::uint64_t number = ++last_timer_;
              auto& timer = timers_[number];
              timer = std::make_unique<net::steady_timer>(context_, when);
              timer->async_wait([this, number, what](boost::system::error_code e) {
                if (e) return;
                timers_.erase(number);
                what();
                drive_awake();
              });
            });
}

namespace detail {

/// What one link may read before others have their turn.
TAGMA_DECL constexpr std::size_t turn_bytes = 2 * 1024 * 1024;
/// How long who has said why it closes waits for the other end to read that.
TAGMA_DECL constexpr std::int64_t drain_ns = 1'000'000'000;

}  // namespace detail

TAGMA_DECL socket_link::socket_link(std::shared_ptr<core> with, connection::setting s, std::shared_ptr<handler> told,
                                    std::shared_ptr<const tls_identity> proof)
    : driven_link(s, std::move(told), runtime::now_ns()),
      core_(std::move(with)),
      socket_(core_->context()),
      timer_(core_->context()),
      again_(core_->context()),
      resolver_(core_->context()),
      which_(s.which) {
  if (proof != nullptr) tls_ = std::make_unique<tls_channel>(which_, std::move(proof));
}

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
  detail::make_ready(socket_);
  running_ = true;
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
    self->core_->drive_awake();
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
      if (c.is_over()) return false;
      const std::size_t n = tls_->read(c.receive_into().first);
      if (n > 0) c.received(n, clock());
      return n > 0;
    });
  }
  if (const std::optional<error>& why = tls_->failure(); why && why->code() != status_code::unavailable)
    distrust(why->code(), sentence_of(*why));
}

TAGMA_DECL void socket_link::read() {
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
    if (e || n < room) break;
  }
  wait_to_read();
}

TAGMA_DECL void socket_link::write() {
  while (running_ && !writing_ && !deaf_) {
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
