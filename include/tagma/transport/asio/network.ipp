// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of network.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/asio/core.hpp"
#include "tagma/transport/asio/network.hpp"

namespace tagma::transport::asio {

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

TAGMA_DECL network::network(settings how) : core_(std::make_shared<core>(std::move(how))) { core_->start(); }

TAGMA_DECL network::~network() { core_->stop(); }

TAGMA_DECL std::shared_ptr<link> network::connect(const std::string& address, const options& how,
                                                  std::shared_ptr<handler> with, std::int64_t within_ns) {
  return core_->connect(address, how, std::move(with), within_ns);
}

TAGMA_DECL std::string network::listen(const std::string& address, const options& how, acceptor accept) {
  return core_->listen(address, how, std::move(accept));
}

TAGMA_DECL void network::stop_listening(const std::string& address) { core_->stop_listening(address); }

TAGMA_DECL void network::after(std::int64_t ns, std::function<void()> what) { core_->after(ns, std::move(what)); }

#else

TAGMA_COLD TAGMA_DECL network::network(settings) {
  fail(status_code::unimplemented,
       "sockets need Boost.Asio: compile with TAGMA_WITH_ASIO=1 where Boost's headers are (with CMake, link "
       "tagma::asio; "
       "Debian: libboost-dev)");
}

TAGMA_DECL network::~network() = default;

TAGMA_DECL std::shared_ptr<link> network::connect(const std::string&, const options&, std::shared_ptr<handler>,
                                                  std::int64_t) {
  return nullptr;
}

TAGMA_DECL std::string network::listen(const std::string& address, const options&, acceptor) { return address; }

TAGMA_DECL void network::stop_listening(const std::string&) {}

TAGMA_DECL void network::after(std::int64_t, std::function<void()>) {}

#endif

TAGMA_DECL std::int64_t network::now() const { return runtime::now_ns(); }

}  // namespace tagma::transport::asio
