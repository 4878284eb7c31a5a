// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of dmlc.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/dmlc.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::sources {

TAGMA_DECL bool has_dmlc(const environment& variables) { return variables.has("DMLC_ROLE"); }

TAGMA_DECL finding dmlc(const environment& variables) {
  constexpr int most = cluster_limits::tasks;
  const std::string role = variables.need("DMLC_ROLE", "DMLC");
  finding said;
  said.lacking = "DMLC_PS_ROOT_URI names the host of the scheduler alone";
  if (role == "scheduler") {
    said.options = {"chief", 0};
    return said;
  }
  const bool is_server = role == "server";
  if (!is_server && role != "worker")
    fail(status_code::invalid_argument,
         {"DMLC_ROLE: ", tagma::detail::quote(role), " is none of scheduler, server and worker"});
  const int count = variables.find_number(is_server ? "DMLC_NUM_SERVER" : "DMLC_NUM_WORKER", 1, most).value_or(most);
  const auto number = variables.find_number(is_server ? "DMLC_SERVER_ID" : "DMLC_WORKER_ID", 0, count - 1);
  said.options = {is_server ? "ps" : "worker", number.value_or(count == 1 ? 0 : -1)};
  return said;
}

}  // namespace tagma::sources
