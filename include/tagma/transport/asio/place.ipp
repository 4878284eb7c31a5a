// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of place.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/place.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "tagma/base/error.hpp"

namespace tagma::transport::asio {

namespace detail {

TAGMA_DECL bool is_same_user(stream_socket& socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == ::getuid() || who.uid == 0;
}

TAGMA_DECL bool is_left_over(net::io_context& in, const endpoint& there) {
  stream_socket probe(in);
  boost::system::error_code e;
  probe.open(there.protocol(), e);
  if (!e) probe.connect(there, e);
  return e == net::error::connection_refused;
}

TAGMA_DECL void make_ready(stream_socket& socket) {
  boost::system::error_code e;
  socket.non_blocking(true, e);
  const int now = 1;
  (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);  // fails on Unix sockets
}

TAGMA_DECL bool is_one_host(const stream_socket& socket) {
  boost::system::error_code e, f;
  const endpoint own = socket.local_endpoint(e), other = socket.remote_endpoint(f);
  if (e || f) return false;
  if (is_local(other)) return true;
  net::ip::tcp::endpoint ends[2];
  if (own.size() > ends[0].capacity() || own.size() != other.size()) return false;
  std::copy_n(reinterpret_cast<const char*>(own.data()), own.size(), reinterpret_cast<char*>(ends[0].data()));
  std::copy_n(reinterpret_cast<const char*>(other.data()), other.size(), reinterpret_cast<char*>(ends[1].data()));
  return ends[0].address() == ends[1].address();
}

}  // namespace detail

TAGMA_DECL place place_of(const std::string& address) {
  place p;
  if (address.starts_with("unix:")) {
    p.is_unix = true;
    p.path = address.substr(address.starts_with("unix:///") ? 7 : 5);
    if (p.path.size() < 2 || p.path[0] != '/' || p.path.size() > 107)
      fail(status_code::invalid_argument,
           {"'", address, "' names no Unix socket: its path is absolute, of at most 107 bytes"});
    return p;
  }
  const std::size_t colon = address.rfind(':');
  if (colon != std::string::npos) {
    p.host = address.substr(0, colon);
    p.port = address.substr(colon + 1);
  }
  if (p.host.size() > 2 && p.host.front() == '[' && p.host.back() == ']') p.host = p.host.substr(1, p.host.size() - 2);
  const bool digits = !p.port.empty() && p.port.size() < 6 &&
                      std::all_of(p.port.begin(), p.port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (p.host.empty() || !digits || std::stoi(p.port) > 65535)
    fail(status_code::invalid_argument, {"'", address, "' is no address, expected host:port or unix:/path"});
  return p;
}

TAGMA_DECL bool is_local(const endpoint& e) {
  if (e.protocol().family() == AF_UNIX) return true;
  net::ip::tcp::endpoint tcp;
  if (e.size() > tcp.capacity()) return false;
  std::copy_n(reinterpret_cast<const char*>(e.data()), e.size(), reinterpret_cast<char*>(tcp.data()));
  tcp.resize(e.size());
  return tcp.address().is_loopback();
}

}  // namespace tagma::transport::asio

#endif
