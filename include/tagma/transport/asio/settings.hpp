// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a network of sockets can be told.

#include <cstddef>
#include <functional>

#include "tagma/base/error.hpp"

namespace tagma::transport::asio {

/// How a network treats those whom it does not know yet.
struct settings {
  /// Connections that came and have not proven who they are. One more ends the oldest of them.
  std::size_t strangers = 128;
  /// Told what goes wrong with no connection in particular, such as that none can be accepted; by the thread of the
  /// network.
  std::function<void(const error&)> report{};
};

}  // namespace tagma::transport::asio
