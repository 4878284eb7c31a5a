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
  const connection::setting s{side::connects, std::move(how), detail::draw_nonce(), address, true, true};
  auto made = std::make_shared<socket_link>(shared_from_this(), s, std::move(with), std::move(proof));
  net::post(context_, [this, made, where, until = runtime::later(runtime::now_ns(), within_ns)] {
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
            "go without (--insecure; in C++ `insecure = true`)"});
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
  const connection::setting s{side::accepts, at->how, detail::draw_nonce(), "who connects to " + at->address,
                              true,          true};
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
  const std::chrono::steady_clock::time_point when(
      std::chrono::nanoseconds(runtime::later(std::chrono::steady_clock::now().time_since_epoch().count(), ns)));
  net::post(context_, [this, when, what = std::move(what)] {
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

}  // namespace tagma::transport::asio

#endif
