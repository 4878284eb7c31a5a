// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a worker behaves.

#include <cstddef>
#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::service {

/// Times are nanoseconds.
struct worker_options {
  cluster members{};                       ///< told to clients that ask
  transport::options link{};               ///< whom it believes; `self` is who it is
  int intra_op_threads = 0;                ///< of each graph, as of a session
  int inter_op_threads = 0;                ///< likewise
  std::size_t most_runs = 256;             ///< parts of runs at the same time; others wait
  std::int64_t peers_ns = 30'000'000'000;  ///< how long it waits for other tasks
};

}  // namespace tagma::service
