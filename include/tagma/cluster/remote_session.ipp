// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of remote_session.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/address.hpp"
#include "tagma/cluster/remote_session.hpp"

namespace tagma {

namespace detail {

TAGMA_COLD TAGMA_DECL cluster_session_options as_client(cluster_session_options options) {
  if (options.link.self.job.empty()) options.link.self.job = "client";
  if (options.link.self.role.empty()) options.link.self.role = "client";
  if (options.link.self.incarnation == 0) options.link.self.incarnation = service::draw_number() | 1;
  return options;
}

}  // namespace detail

TAGMA_DECL detail::reached_server::reached_server(std::string_view target, const cluster_session_options& options)
    : as(as_client(options)), there(ask_for_cluster(network, to_string(target_address(target)), as)) {}

}  // namespace tagma
