// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Whether a server reaches another one: it connects, and asks for an answer a few times.

#include <cstdint>
#include <functional>
#include <memory>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

/// Told once how a probe ended, by the thread of the network.
/// @param why nullptr if the other answered
using probed = std::function<void(const error* why, const probe_result& result)>;

/// One connection that is made for this alone, and closed then.
class probing final : public transport::handler, public transport::call {
 public:
  static constexpr int rounds = 5;

  /// Begins, and returns at once.
  /// @param how whom it believes, and whom it expects there
  /// @param within_ns how long it tries to connect, and how long it waits for each answer
  static void start(transport::network& by, const std::string& address, const transport::options& how,
                    std::int64_t within_ns, probed done);

  probing(transport::network& by, std::int64_t within_ns, probed done);

  void connected(transport::link& with) override;
  void received(transport::link&, transport::incoming&) override {}
  void closed(transport::link& with) override;
  void lost(transport::link& with, const error& why) override;
  void replied(transport::incoming& reply) noexcept override;
  void failed(const error& why) noexcept override;

 private:
  void ask();
  void finish(const error* why);

  transport::network& network_;
  std::int64_t within_ns_, began_ns_, asked_ns_ = 0;
  probed done_;
  probe_result result_;
  int answers_ = 0;
  transport::link* link_ = nullptr;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/probing.ipp"
#endif
