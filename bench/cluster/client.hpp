// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What cluster.py says to its clients: which server they ask, and whether bytes go through sockets alone.

#include <cstdlib>
#include <string>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace peers {

inline bool shares_memory() { return std::getenv("BENCH_SOCKETS") == nullptr; }

inline std::string target() {
  const char* const said = std::getenv("BENCH_TARGET");
  return said == nullptr ? std::string() : said;
}

inline tagma::cluster_session_options session_options() {
  tagma::cluster_session_options how;
  how.seed = 42;
  how.device_filters = {"/job:ps"};  // beside the server that is asked
  how.link.shared_memory = shares_memory();
  return how;
}

}  // namespace peers
