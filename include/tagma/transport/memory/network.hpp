// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Connections between parts of one process, such as a client and its own server: bytes go from where they are to where
/// they belong by one copy, without a socket.

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::transport::memory {

class pipe_end;

/// All ends of its connections are in this process and belong to this network; addresses are any texts. It has a
/// thread, which calls all handlers.
class network final : public transport::network {
 public:
  network();
  /// Ends all connections. Not to be called by a handler.
  ~network() override;

  /// Both ends go without a secret, unless they have one, and without checksums.
  /// @{
  std::shared_ptr<link> connect(const std::string& address, const options& how, std::shared_ptr<handler> with,
                                std::int64_t within_ns) override;
  std::string listen(const std::string& address, const options& how, acceptor accept) override;
  /// @}
  void stop_listening(const std::string& address) override;
  void after(std::int64_t ns, std::function<void()> what) override;
  [[nodiscard]] std::int64_t now() const override;

 private:
  friend class pipe_end;

  struct listener {
    options how{};
    acceptor accept{};
  };
  /// What links and the thread share; links may outlive the network.
  struct shared {
    tagma::mutex mutex{};
    condition changed{};
    std::vector<std::shared_ptr<pipe_end>> awake{}, fresh{};
    std::map<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> later{};
    std::uint64_t planned = 0;
    bool stops = false;
    atomic<pthread_t> thread{0};
  };

  void run();
  void try_connect(const std::shared_ptr<pipe_end>& from, const std::string& address, std::int64_t until);
  [[nodiscard]] static options local(options how);

  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
  tagma::mutex listeners_mutex_;
  std::map<std::string, listener> listeners_;
  std::vector<std::shared_ptr<pipe_end>> ends_;  // of the thread
  std::thread thread_;
};

}  // namespace tagma::transport::memory

#ifndef TAGMA_COMPILED
#include "tagma/transport/memory/network.ipp"
#endif
