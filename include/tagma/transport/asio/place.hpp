// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where addresses lead, as Boost.Asio has it.

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

#include "tagma/base/config.hpp"

namespace tagma::transport::asio {

namespace net = boost::asio;
using stream_socket = net::generic::stream_protocol::socket;
using endpoint = net::generic::stream_protocol::endpoint;

/// A path, or a host and a port.
struct place {
  bool is_unix = false;
  std::string host{}, port{}, path{};
};

/// Throws `invalid_argument` for what is no address.
[[nodiscard]] place place_of(const std::string& address);

/// Whether only processes of this machine get to an address.
[[nodiscard]] bool is_local(const endpoint& e);

namespace detail {

/// Whether the process at the other end of a Unix socket belongs to the same user, or to root.
[[nodiscard]] bool is_same_user(stream_socket& socket);

/// Whether a Unix socket is one that nobody listens at any more.
[[nodiscard]] bool is_left_over(net::io_context& in, const endpoint& there);

/// Whether both ends of a connection are on this machine, as far as addresses tell.
[[nodiscard]] bool is_one_host(const stream_socket& socket);

/// Reads and writes wait for nothing from now on, neither here nor in the system.
void make_ready(stream_socket& socket);

}  // namespace detail

}  // namespace tagma::transport::asio

#endif

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/place.ipp"
#endif
