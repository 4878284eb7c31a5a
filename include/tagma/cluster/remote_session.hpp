// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions over the cluster of a server that a client reaches through sockets of its own.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/ask_for_cluster.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/cluster/typed_session.hpp"
#include "tagma/transport/asio/network.hpp"

namespace tagma {

namespace detail {
/// A server, as a client knows it that has sockets of its own.
struct reached_server {
  reached_server(std::string_view target, const cluster_session_options& options);

  transport::asio::network network;
  cluster_session_options as;
  described_cluster there;
};
/// A session by names over its cluster.
struct remote_connection : reached_server {
  remote_connection(const any_program& program, std::string_view target, const cluster_session_options& options)
      : reached_server(target, options), by_names(network, there.members, there.home, program, as) {}

  cluster_session by_names;
};
}  // namespace detail

/// A session over the cluster of a server, through sockets. Of a program with handles, compiled early or late, it runs
/// what a local session does: `session.run(fetch(loss, train), x = images)`, checked by the compiler (`typed_session`).
template <class Program>
class remote_session : detail::remote_connection, public detail::typed_cluster_runs<Program> {
 public:
  /// @param target "tagma://host:port", any server of the cluster; what asks for no device is there, or on a
  /// device of a better type
  remote_session(const Program& program, std::string_view target, const cluster_session_options& options = {})
      : detail::remote_connection(detail::as_data(program), target, options),
        detail::typed_cluster_runs<Program>(this->by_names) {}
};

/// Of a program that is data: by names.
template <>
class remote_session<any_program> : detail::remote_connection {
 public:
  remote_session(const any_program& program, std::string_view target, const cluster_session_options& options = {})
      : detail::remote_connection(program, target, options) {}

  /// As of `cluster_session`.
  /// @{
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds = {},
                              const run_limits& limits = {}) {
    return by_names.run(outputs, feeds, limits);
  }
  template <class... Arguments>
  any_tensor run(const output_name& output, const Arguments&... arguments) {
    return by_names.run(output, arguments...);
  }
  saved_checkpoint save(const std::string& name, const save_options& how = {}) { return by_names.save(name, how); }
  restored_checkpoint restore(const std::string& name, std::int64_t pause_ns = save_options().pause_ns) {
    return by_names.restore(name, pause_ns);
  }
  [[nodiscard]] device_spec device_of(ir::node_id node) const { return by_names.device_of(node); }
  /// @}
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/remote_session.ipp"
#endif
