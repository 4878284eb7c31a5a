// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One end of a connection through a socket, beside which memory may carry the bytes.

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/place.hpp"
#include "tagma/transport/asio/segment.hpp"
#include "tagma/transport/asio/tls_channel.hpp"
#include "tagma/transport/driven_link.hpp"

namespace tagma::transport::asio {

class socket_link;

/// The thread that drives links.
class link_thread {
 public:
  virtual ~link_thread() = default;

  [[nodiscard]] virtual net::io_context& context() = 0;
  [[nodiscard]] virtual bool is_here() const = 0;
  /// Something is to be done for a link; by any thread.
  virtual void wake(std::shared_ptr<socket_link> whom) = 0;

  /// @name For that thread
  /// @{
  /// A link is no stranger any more, or is over.
  virtual void known(const socket_link* who) = 0;
  virtual void over(const std::shared_ptr<socket_link>& who) = 0;
  /// At the end of everything that is done: what has been asked for meanwhile.
  virtual void drive_awake() = 0;
  /// @}
};

/// One end of a connection through a socket. All but what a link has is for the thread of the network. It waits until
/// the socket can be read or written, and then reads and writes itself: so the memory of bulk is touched in its
/// functions alone, and is free whenever they have returned.
class socket_link final : public driven_link, public std::enable_shared_from_this<socket_link> {
 public:
  /// @param proof nullptr: without TLS
  socket_link(std::shared_ptr<link_thread> with, connection::setting s, std::shared_ptr<handler> told,
              std::shared_ptr<const tls_identity> proof);
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
  void wake() override;
  [[nodiscard]] bool is_here() const override;
  [[nodiscard]] std::int64_t clock() const override;

 private:
  void try_next();
  void try_again(std::string_view why);
  void connected();
  void fails(std::string_view how);
  void wait_to_read();
  void read();
  void write();
  [[nodiscard]] std::size_t read_some(std::size_t& room, boost::system::error_code& e);
  void decipher();
  void consider_memory();
  void read_memory();
  void write_memory();
  void wake_other();
  [[nodiscard]] bool writes_memory();
  void go_on_soon();
  void distrust(status_code code, std::string_view how);
  void plan_timer();
  void finish();
  void drain();

  const std::shared_ptr<link_thread> thread_;
  stream_socket socket_;
  net::steady_timer timer_, again_;
  net::ip::tcp::resolver resolver_;
  place where_{};
  std::string why_{};              // nothing has come of it so far; empty: nothing is known
  std::vector<endpoint> there_{};  // not tried yet
  std::int64_t until_ = 0, pause_ns_ = 10'000'000, timer_due_ = INT64_MAX;
  bool running_ = false, reading_ = false, writing_ = false, over_ = false, was_stranger_ = false;
  bool deaf_ = false;  // the other end takes nothing any more
  const side which_;
  std::unique_ptr<tls_channel> tls_{};  // nullptr: without
  std::unique_ptr<segment> memory_{};   // likewise
  bool goes_on_ = false;                // it has had its turn, and there is more to do
};

}  // namespace tagma::transport::asio

#endif

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/socket_link.ipp"
#endif
