// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A cluster of which one server is known.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/session.hpp"

namespace tagma {

/// A cluster, as one of its servers describes it, and which task that server is.
struct described_cluster {
  cluster members;
  task_id home;
};
/// Asks the server at an address. Throws Unavailable if there is none.
[[nodiscard]] described_cluster ask_for_cluster(transport::network& by, const std::string& address,
                                                const cluster_session_options& options = {});

namespace detail {

/// A cluster in which one task is where it was reached, if the system chose its port when it began.
[[nodiscard]] cluster reached_cluster(const std::vector<service::placed_task>& tasks, const task_id& self,
                                      const std::string& address);

}  // namespace detail

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/ask_for_cluster.ipp"
#endif
