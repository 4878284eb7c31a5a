// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One end of a connection through memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/memory/network.hpp"

namespace tagma::transport::memory {

/// All but what a link has is for the thread of the network.
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
#include "tagma/transport/memory/pipe_end.ipp"
#endif
