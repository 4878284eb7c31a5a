// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions whose programs run on the tasks of a cluster: the program is placed, cut, and given to the servers once,
/// then runs are asked of all that they concern. State stays on the servers, and outlives the session.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/site.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/plan/parts.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/transport/network.hpp"

namespace tagma {

/// How a session uses a cluster. Times are nanoseconds.
struct cluster_session_options {
  transport::options link{};                    ///< who the client is, and its secret
  std::string container{};                      ///< where the state is on each server; empty: their default one
  std::string variable_prefix{};                ///< as of a local session
  std::uint64_t seed = 0;                       ///< of initial values and random operations
  isolation kept_apart = isolation::variables;  ///< of a container that does not exist yet
  std::int64_t connect_ns = 30'000'000'000;     ///< how long it waits for tasks that are not there
  std::int64_t run_ns = 600'000'000'000;        ///< how long a run may take; ends of runs are never open
};

/// For several threads.
class cluster_session {
 public:
  /// Places the program on all tasks of the cluster, and gives each its part; those that have none are left alone.
  /// Variables that a server has already stay where they are.
  ///
  /// Throws InvalidArgument for what cannot be placed or cut, Unavailable for a task that does not come, with its name,
  /// and what a server says of its part.
  /// @param by outlives the session
  /// @param home the task where everything is that asks for nothing
  cluster_session(transport::network& by, const cluster& members, const task_id& home, const any_program& program,
                  cluster_session_options options = {});
  cluster_session(const cluster_session&) = delete;
  cluster_session& operator=(const cluster_session&) = delete;
  /// The servers forget the program; state stays.
  ~cluster_session();

  /// As of `session<any_program>`; beside its errors Unavailable, with the task, for one that was lost, and
  /// DeadlineExceeded. What has been updated then is not known.
  /// @{
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds = {});
  template <class... Feeds>
  any_tensor run(const output_name& output, const Feeds&... feeds) {
    return std::move(run(std::vector<output_name>{output}, std::vector<named_feed>{feeds...})[0]);
  }
  /// @}

  /// The complete name of the device of a node of the program.
  [[nodiscard]] device_spec device_of(ir::node_id node) const { return site_->device_of(node); }

 private:
  class gathering;
  class question;

  void list_variables(variable_homes& homes);
  void add_parts();
  void end_run(std::uint64_t step, const std::vector<std::vector<int>>& asked, const error* why);
  [[nodiscard]] std::string feeds_of(std::size_t part, const std::vector<named_feed>& feeds,
                                     service::run_part& to) const;
  void check_feeds(const std::vector<named_feed>& feeds) const;

  transport::network& network_;
  any_program program_;
  cluster_session_options options_;
  std::vector<service::placed_task> tasks_;
  std::vector<std::shared_ptr<service::outlet>> outlets_;
  std::unique_ptr<cluster_site> site_;
  ir::cut_graph cut_;
  std::vector<any_program> parts_;
  std::vector<bool> has_part_;
  std::uint64_t graph_ = 0;
  atomic<std::uint64_t> step_{0};
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/session.ipp"
#endif
