// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The worker service of a process: it takes parts of graphs it was not compiled with, keeps their state in containers,
/// and runs them for whoever asks.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/crew.hpp"
#include "tagma/cluster/service/meeting.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

struct worker_options {
  transport::options link{};               ///< whom it believes; `self` is who it is
  int intra_op_threads = 0;                ///< of each graph, as of a session
  int inter_op_threads = 0;                ///< likewise
  std::size_t most_runs = 256;             ///< parts of runs at the same time; others wait
  std::int64_t peers_ns = 30'000'000'000;  ///< how long it waits for other tasks
};

/// All of a worker but its life: what handlers, runs and links share.
class worker_core;

/// Listens while it lives.
class worker {
 public:
  /// Throws what `network::listen` throws.
  /// @param by outlives it
  worker(transport::network& by, const std::string& address, worker_options options);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// Ends the runs that are under way, with Aborted.
  ~worker();

  /// With the port that was chosen.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// The container of a name, which graphs have their variables in.
  [[nodiscard]] container state(const std::string& name = "");

 private:
  transport::network& network_;
  std::string address_;
  std::shared_ptr<worker_core> core_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/worker.ipp"
#endif
