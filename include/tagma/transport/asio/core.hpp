// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The thread of a network of sockets, and its connections.

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <pthread.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/transport/asio/settings.hpp"
#include "tagma/transport/asio/socket_link.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::transport::asio {

/// Listens at one address.
struct listener : std::enable_shared_from_this<listener> {
  listener(net::io_context& in, options o, acceptor a)
      : socket(in), again(in), how(std::move(o)), accept(std::move(a)) {}

  net::basic_socket_acceptor<net::generic::stream_protocol> socket;
  net::steady_timer again;
  options how;
  acceptor accept;
  std::string address{}, path{};  ///< as it is called; of a Unix socket
};

/// What links and the thread share. Links may outlive the network; its thread does not.
class core final : public link_thread, public std::enable_shared_from_this<core> {
 public:
  explicit core(settings how) : how_(std::move(how)), work_(net::make_work_guard(context_)) {}

  void start();
  void stop();

  [[nodiscard]] net::io_context& context() override { return context_; }
  [[nodiscard]] bool is_here() const override { return thread_id_.load() == pthread_self(); }
  void wake(std::shared_ptr<socket_link> whom) override;

  std::shared_ptr<link> connect(const std::string& address, options how, std::shared_ptr<handler> with,
                                std::int64_t within_ns);
  std::string listen(const std::string& address, options how, acceptor accept);
  void stop_listening(const std::string& address);
  void after(std::int64_t ns, std::function<void()> what);

  void known(const socket_link* who) override;
  void over(const std::shared_ptr<socket_link>& who) override;
  void drive_awake() override;

 private:
  void take(const std::shared_ptr<listener>& at);
  void taken(const std::shared_ptr<listener>& at, stream_socket socket);
  void open(const place& where, const std::shared_ptr<listener>& made);
  void report(status_code code, std::string_view text);
  /// Nothing for who has no certificates. With them nobody needs a secret, and bulk no checksums.
  [[nodiscard]] std::shared_ptr<const tls_identity> proves(options& how);

  settings how_;
  net::io_context context_{1};
  net::executor_work_guard<net::io_context::executor_type> work_;
  std::thread thread_;
  atomic<pthread_t> thread_id_{0};
  mutex mutex_;
  std::vector<std::shared_ptr<socket_link>> awake_;
  bool posted_ = false;
  tls_identities identities_;                                   // under the mutex
  std::map<std::string, std::shared_ptr<listener>> listeners_;  // under the mutex
  std::set<std::shared_ptr<socket_link>> links_;                // of the thread, as what follows
  std::deque<const socket_link*> strangers_;
  std::map<std::uint64_t, std::unique_ptr<net::steady_timer>> timers_;
  std::uint64_t last_timer_ = 0;
};

}  // namespace tagma::transport::asio

#endif

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/core.ipp"
#endif
