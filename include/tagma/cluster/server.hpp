// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A server of a cluster: a task that keeps state and runs what clients give it, through sockets.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/cluster/address.hpp"
#include "tagma/cluster/role.hpp"
#include "tagma/cluster/service/worker.hpp"
#include "tagma/runtime/device_kind.hpp"
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
  gpu_options gpu{};  ///< of all its programs together, where it has devices besides CPUs
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
  explicit server(const role& who, const server_options& options = {}) : server(who, options, nullptr) {}
  /// The same with devices besides CPUs, such as `tagma::gpus()` or `tagma::fake_gpus()`, which outlive it: programs of
  /// its clients are placed there as well.
  /// @{
  server(const role& who, const server_options& options, const runtime::device_kind& others)
      : server(who, options, &others) {}
  server(const role& who, const server_options& options, const runtime::device_kind* others);
  /// @}
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

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/server.ipp"
#endif
