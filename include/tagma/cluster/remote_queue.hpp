// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues of servers that are reached through sockets.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/cluster/queue.hpp"
#include "tagma/cluster/remote_session.hpp"

namespace tagma {

/// A queue of the server that is named, through sockets; its calls are those of `cluster_queue`.
template <class... Specs>
class remote_queue : detail::reached_server, public cluster_queue<Specs...> {
 public:
  /// As of `cluster_queue`.
  /// @param target "tagma://host:port"
  TAGMA_COLD remote_queue(std::string_view target, std::string_view name, const queue_options& options = {},
                          const cluster_session_options& session = {})
      : detail::reached_server(target, session),
        cluster_queue<Specs...>(this->network, this->there.members, this->there.home, name, options, this->as) {}
};

}  // namespace tagma
