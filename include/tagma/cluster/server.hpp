// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A server of a cluster: a task that keeps state and runs what clients give it, through sockets.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/cluster/ask_for_cluster.hpp"
#include "tagma/cluster/master.hpp"
#include "tagma/cluster/role.hpp"
#include "tagma/cluster/service/worker.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/cluster/typed_session.hpp"
#include "tagma/transport/asio/network.hpp"

namespace tagma {

/// How a server listens, whom it lets in, and the threads that its programs have.
struct server_options {
  std::optional<address> bind{};  ///< where it listens, if not at the address that others know
  std::string secret{};           ///< shared by the servers and clients of the cluster; needed beyond this machine,
  bool insecure = false;          ///< unless this is set: then whoever reaches the port runs programs here
  /// What chiefs have in place of that secret: only they reset, save, restore and stop. Empty: everybody may.
  std::string chief_secret{};
  /// Certificates in place of secrets, for clients and other servers alike; they also say who is a chief.
  transport::tls_files tls{};
  int intra_op_threads = 0;  ///< of each program, as of a session
  int inter_op_threads = 0;
  transport::patience patience{};
  bool shared_memory = true;  ///< with clients and servers of the same user on its machine, if they do, too
  std::string checkpoints{};  ///< a directory for checkpoints, one for all servers; empty: none are made
  int checkpoint_chain = 8;   ///< a checkpoint has no variable from one that is so many older
  std::int64_t checkpoint_every_ns =
      0;                               ///< it saves its own variables so often, 0: never, and begins with them when it
  std::uint32_t checkpoints_kept = 5;  ///< is started anew; so many of these are kept
  /// Told, in sentences, what it restored by itself, and when it could not save; by any thread.
  std::function<void(const std::string&)> told{};
  /// A chief wants the process to end; returns at once. Without it, only the process itself ends the server.
  std::function<void()> stop_asked{};
};

/// Takes programs from when it is made until it ends. It has nothing compiled in but the operations of the library.
class server {
 public:
  /// Throws Unavailable or AlreadyExists if its address cannot be had, and PermissionDenied for one that other machines
  /// reach without a secret.
  explicit server(const role& who, const server_options& options = {});
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// "tagma://host:port", for sessions.
  [[nodiscard]] const std::string& target() const { return target_; }
  /// The container of a name.
  [[nodiscard]] container state(const std::string& name = "") { return worker_.state(name); }

 private:
  transport::asio::network network_;
  service::worker worker_;
  std::string target_;
};

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
  /// @param target "tagma://host:port", any server of the cluster; what asks for no device is there
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

namespace detail {

TAGMA_COLD inline service::worker_options worker_options_of(const role& who, const server_options& options,
                                                            transport::network& by) {
  service::worker_options w;
  w.members = who.cluster();
  w.open_session = open_by_master(by, w.members);
  w.link.self.job = who.job();
  w.link.self.task = who.task();
  w.link.self.role = "server";
  w.link.self.incarnation = service::draw_number() | 1;
  w.link.secret = options.secret;
  w.link.insecure = options.insecure;
  w.link.chief_secret = options.chief_secret;
  w.link.tls = options.tls;
  w.link.patience = options.patience;
  w.link.shared_memory = options.shared_memory;
  w.intra_op_threads = options.intra_op_threads;
  w.inter_op_threads = options.inter_op_threads;
  w.checkpoints = options.checkpoints;
  w.checkpoint_chain = options.checkpoint_chain;
  w.checkpoint_every_ns = options.checkpoint_every_ns;
  w.checkpoints_kept = options.checkpoints_kept;
  w.told = options.told;
  w.stop_asked = options.stop_asked;
  return w;
}

TAGMA_COLD inline cluster_session_options as_client(cluster_session_options options) {
  if (options.link.self.job.empty()) options.link.self.job = "client";
  if (options.link.self.role.empty()) options.link.self.role = "client";
  if (options.link.self.incarnation == 0) options.link.self.incarnation = service::draw_number() | 1;
  return options;
}

}  // namespace detail

inline server::server(const role& who, const server_options& options)
    : worker_(network_, to_string(listen_at(who.task_address(), options.bind).bind),
              detail::worker_options_of(who, options, network_)),
      target_("tagma://" + worker_.address()) {}

inline server::~server() = default;

inline detail::reached_server::reached_server(std::string_view target, const cluster_session_options& options)
    : as(as_client(options)), there(ask_for_cluster(network, to_string(target_address(target)), as)) {}

}  // namespace tagma
