// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One end of a connection in a world that is made up.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/simulated/world.hpp"

namespace tagma::transport::simulated {

class stream final : public driven_link, public std::enable_shared_from_this<stream> {
 public:
  stream(network& home, connection::setting s, std::shared_ptr<handler> with);
  ~stream() override = default;

  std::string address{};  ///< of who connects
  void meet(const std::shared_ptr<stream>& other);
  /// Nobody is there.
  void fails(std::string_view how);
  /// Bytes come, or the end of them if there are none.
  void comes(std::string bytes, std::int64_t when);
  /// What came while the processes were parted.
  void release();
  /// The connection breaks.
  void breaks(std::string_view how);
  /// The process is no more.
  void dies();
  void drive();
  [[nodiscard]] network& home() const { return home_; }
  [[nodiscard]] stream* other() const { return other_.lock().get(); }
  [[nodiscard]] bool is_dead() const { return dead_; }

 protected:
  void wake() override;
  [[nodiscard]] bool is_here() const override { return true; }
  [[nodiscard]] std::int64_t clock() const override { return home_.now(); }

 private:
  void arrive();
  void read();
  void write();
  void plan_timer();
  void plan_drive(std::int64_t when);
  [[nodiscard]] std::size_t some_of(std::size_t n);

  network& home_;
  world& world_;
  std::uint64_t life_;
  std::weak_ptr<stream> other_;
  std::deque<std::string> coming_;  // in order; an empty one is the end
  std::string unread_;
  std::size_t held_ = 0, pipe_ = 0;  // arrivals while parted; bytes coming and unread
  std::int64_t last_arrival_ = 0, timer_ = INT64_MAX;
  bool planned_ = false, ended_ = false, dead_ = false, told_end_ = false;
};

}  // namespace tagma::transport::simulated

#ifndef TAGMA_COMPILED
#include "tagma/transport/simulated/stream.ipp"
#endif
