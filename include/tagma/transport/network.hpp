// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What carries connections: sockets (asio/), memory (memory/) or a simulation (simulated/). Services are written
/// against this alone, clock included, and so run in all three.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tagma/transport/link.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::transport {

/// Makes the handler of a connection that comes in; called by the thread of the network. nullptr: it is not taken.
using acceptor = std::function<std::shared_ptr<handler>()>;

/// For several threads. Its own thread calls all handlers.
class network {
 public:
  virtual ~network() = default;
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Begins to connect, and tries again until `within_ns` is over. The handler lives as long as the link does: it is
  /// told `connected`, or `lost` and why.
  /// @param address as `tagma::to_string(address)` spells it: "host:port", "[::1]:2222", "unix:/path"
  virtual std::shared_ptr<link> connect(const std::string& address, const options& how, std::shared_ptr<handler> with,
                                        std::int64_t within_ns) = 0;
  /// Takes connections from now on. Throws `unavailable` or `already_exists` if the address cannot be had,
  /// `permission_denied` if others could get there without a secret, and `how` does not say `insecure`.
  /// @returns the address, with the port that was chosen
  virtual std::string listen(const std::string& address, const options& how, acceptor accept) = 0;
  /// Takes no more connections at an address; those that there are stay. When it returns, the acceptor is not called
  /// any more: so the caller holds no lock that handlers or acceptors take.
  virtual void stop_listening(const std::string& address) = 0;

  /// Calls a function on the thread of the network, some time from now. Calls of one thread that are due at one time
  /// are in order.
  virtual void after(std::int64_t ns, std::function<void()> what) = 0;
  /// The monotonic clock of this network.
  [[nodiscard]] virtual std::int64_t now() const = 0;

 protected:
  network() = default;
};

}  // namespace tagma::transport
