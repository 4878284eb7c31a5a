// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A call to another process, as who has asked for it knows it.

#include <cstdint>
#include <memory>
#include <mutex>

#include "tagma/base/config.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

/// Whether a call is still wanted, and where it was sent. It may outlive the call. For several threads.
class asked_call {
 public:
  [[nodiscard]] bool is_wanted() const;
  /// It is not sent any more; if it was, it stays. `outlet::drop_unwanted` then ends it.
  void drop();
  /// It ends soon, with Cancelled, also if it was sent.
  void end();
  /// Of who sends it, each time.
  /// @param number of the call, `send_result::number`
  void sent(const std::shared_ptr<transport::link>& by, std::uint64_t number);

 private:
  mutable std::mutex mutex_;
  bool wanted_ = true, ends_ = false;
  std::weak_ptr<transport::link> link_;
  std::uint64_t number_ = 0;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/asked_call.ipp"
#endif
