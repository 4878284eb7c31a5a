// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Connections through TCP and Unix sockets, by Boost.Asio, where TAGMA_WITH_ASIO is 1.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/settings.hpp"
#include "tagma/transport/network.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
TAGMA_NEEDS_LIBRARY(compiled_with_asio)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_asio)
#endif
#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
TAGMA_NEEDS_LIBRARY(compiled_with_tls)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_tls)
#endif

namespace tagma::transport::asio {

class core;

/// Addresses are "host:port", "1.2.3.4:port", "[::1]:port", "unix:/path". It has a thread, which calls all handlers,
/// and one more while names are resolved.
///
/// On loopback and Unix sockets, both ends go without a secret if they have none: whoever can log in to the machine
/// gets to a loopback address, and a Unix socket takes processes of the same user and of root alone. Elsewhere `listen`
/// needs a secret, certificates (`options::tls`, where TAGMA_WITH_TLS is 1), or `options::insecure`. A secret keeps
/// strangers out; TLS also keeps others from reading and changing what is sent. Where one end has certificates, both
/// do.
class network final : public transport::network {
 public:
  /// Throws `unimplemented` without Boost.Asio.
  explicit network(settings how = {});
  /// Ends all connections. Not to be called by a handler.
  ~network() override;

  std::shared_ptr<link> connect(const std::string& address, const options& how, std::shared_ptr<handler> with,
                                std::int64_t within_ns) override;
  std::string listen(const std::string& address, const options& how, acceptor accept) override;
  void stop_listening(const std::string& address) override;
  void after(std::int64_t ns, std::function<void()> what) override;
  [[nodiscard]] std::int64_t now() const override;

 private:
  std::shared_ptr<core> core_;
};

}  // namespace tagma::transport::asio

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/network.ipp"
#endif
