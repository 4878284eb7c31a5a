// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a worker behaves.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/kept_session.hpp"
#include "tagma/runtime/device_kind.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::service {

/// Times are nanoseconds.
struct worker_options {
  cluster members{};                             ///< told to clients that ask
  transport::options link{};                     ///< whom it believes; `self` is who it is
  int intra_op_threads = 0;                      ///< of each graph, as of a session
  int inter_op_threads = 0;                      ///< likewise
  const runtime::device_kind* others = nullptr;  ///< devices besides CPUs; nullptr: there are CPUs alone
  gpu_options others_use{};                      ///< how they are used
  std::size_t most_runs = 256;                   ///< parts of runs at the same time; others wait
  std::int64_t peers_ns = 30'000'000'000;        ///< how long it waits for other tasks
  std::int64_t lease_ns = 60'000'000'000;        ///< how long graphs stay whose client has lost its connection
  std::size_t outcomes = 4096;                   ///< answers to runs that each graph keeps until its client has them,
  std::size_t outcome_bytes = 64 * 1024 * 1024;  ///< and bytes of their results
  std::string checkpoints{};                     ///< a directory for checkpoints; empty: none are made
  int checkpoint_chain = 8;                      ///< a checkpoint has no variable from one that is so many older
  std::int64_t checkpoint_every_ns = 0;          ///< it saves its variables by itself so often, 0: never,
  std::uint32_t checkpoints_kept = 5;            ///< and keeps so many of these
  /// A chief wants the process to end; by the thread of the network, and so returns at once. Without it, only the
  /// process itself ends the worker.
  std::function<void()> stop_asked{};
  /// Told, in sentences, what it restored by itself, and when it could not save; by any thread.
  std::function<void(const std::string&)> told{};
  /// Makes sessions over the cluster for clients that want theirs driven from here; without it there are none.
  session_opener open_session{};
};

}  // namespace tagma::service
