// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The servers of a cluster, in this process.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tagma/cluster/master.hpp"
#include "tagma/cluster/service/worker.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/transport/memory/network.hpp"

namespace tagma::test {

/// Servers of a cluster within this process.
struct servers {
  explicit servers(const cluster& c, std::size_t most = 256) : members(c), most_runs(most), network(own_network) {
    start_all(c);
  }
  /// @param by outlives them
  servers(const cluster& c, transport::network& by) : members(c), most_runs(256), network(by) { start_all(c); }
  void start_all(const cluster& c) {
    for (const auto& [job, tasks] : c.as_map())
      for (const auto& [task, at] : tasks) start({job, task}, to_string(at));
  }
  void start(const task_id& id, const std::string& at) {
    service::worker_options options = with;
    options.members = members;
    options.most_runs = most_runs;
    options.link.self = {.job = id.job, .task = id.task, .role = "server", .cluster = "test", .incarnation = ++started};
    options.link.insecure = true;
    options.intra_op_threads = options.inter_op_threads = 1;
    options.open_session = open_by_master(network, members);
    workers[id] = std::make_unique<service::worker>(network, at, options);
  }
  cluster_session_options client() {
    cluster_session_options options;
    options.link.self = {.job = "client", .role = "client", .cluster = "test", .incarnation = ++started};
    options.link.insecure = true;
    options.connect_ns = 20'000'000'000;
    options.run_ns = 60'000'000'000;
    options.master = master;
    return options;
  }

  cluster members;
  std::size_t most_runs;  ///< at a time, of each
  transport::memory::network own_network;
  transport::network& network;
  std::map<task_id, std::unique_ptr<service::worker>> workers;
  std::uint64_t started = 0;
  session_master master = session_master::client;  ///< of sessions of clients that are made from now on
  service::worker_options with{};                  ///< of those that are started from now on
};

}  // namespace tagma::test
