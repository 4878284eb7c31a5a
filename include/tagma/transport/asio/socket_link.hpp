// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One end of a connection through a socket.

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/core.hpp"

namespace tagma::transport::asio {

/// All but what a link has is for the thread of the network. It waits until the socket can be read or written, and then
/// reads and writes itself: so the memory of bulk is touched in its functions alone, and is free whenever they have
/// returned.
class socket_link final : public driven_link, public std::enable_shared_from_this<socket_link> {
 public:
  socket_link(std::shared_ptr<core> with, connection::setting s, std::shared_ptr<handler> told);
  ~socket_link() override = default;

  /// Finds the other end, again and again until then.
  void seek(const place& where, std::int64_t until);
  /// A connection that came.
  void begin(stream_socket socket);
  /// Does all that is to be done now.
  void drive();
  void stop();
  /// One stranger too many.
  void crowded_out();

 protected:
  void wake() override { core_->wake(shared_from_this()); }
  [[nodiscard]] bool is_here() const override { return core_->is_here(); }
  [[nodiscard]] std::int64_t clock() const override;

 private:
  void try_next();
  void try_again(std::string_view why);
  void connected();
  void fails(std::string_view how);
  void wait_to_read();
  void read();
  void write();
  void plan_timer();
  void finish();
  void drain();

  const std::shared_ptr<core> core_;
  stream_socket socket_;
  net::steady_timer timer_, again_;
  net::ip::tcp::resolver resolver_;
  place where_{};
  std::vector<endpoint> there_{};  // not tried yet
  std::int64_t until_ = 0, pause_ns_ = 10'000'000, timer_due_ = INT64_MAX;
  bool running_ = false, reading_ = false, writing_ = false, over_ = false, was_stranger_ = false;
  bool deaf_ = false;  // the other end takes nothing any more
};

}  // namespace tagma::transport::asio

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/socket_link.ipp"
#endif

#endif
