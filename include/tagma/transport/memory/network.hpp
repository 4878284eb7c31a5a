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
#include <span>
#include <string>
#include <string_view>
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

/// One end of a connection through memory. All but what a link has is for the thread of the network.
class pipe_end final : public driven_link, public std::enable_shared_from_this<pipe_end> {
 public:
  pipe_end(std::shared_ptr<network::shared> with, connection::setting s, std::shared_ptr<handler> told);
  ~pipe_end() override = default;

  void meet(const std::shared_ptr<pipe_end>& other);
  void fails(std::string_view how);
  void stop();
  /// Does all that is to be done now.
  void drive();
  /// When something is due; the end of time if it is over.
  [[nodiscard]] std::int64_t due();
  [[nodiscard]] bool is_dead() const { return dead_; }

 protected:
  void wake() override;
  [[nodiscard]] bool is_here() const override;
  [[nodiscard]] std::int64_t clock() const override;

 private:
  /// Moves what is ready to the other end; false if that is nothing.
  bool move();
  std::size_t take(std::span<const std::byte> bytes);

  const std::shared_ptr<network::shared> network_;
  std::weak_ptr<pipe_end> other_;
  bool dead_ = false;
};

}  // namespace tagma::transport::memory

#ifndef TAGMA_COMPILED
#include "tagma/transport/memory/network.ipp"
#endif
