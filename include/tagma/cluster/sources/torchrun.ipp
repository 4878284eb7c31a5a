// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of torchrun.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/torchrun.hpp"

namespace tagma::sources {

TAGMA_DECL bool has_torchrun(const environment& variables) {
  return variables.has("RANK") && variables.has("WORLD_SIZE") &&
         (variables.has("MASTER_ADDR") || variables.has("TORCHELASTIC_RUN_ID"));
}

TAGMA_DECL finding torchrun(const environment& variables) {
  launch l;
  l.launcher = "torchrun";
  l.size = variables.need_number("WORLD_SIZE", 1, cluster_limits::tasks, l.launcher);
  l.rank = variables.need_number("RANK", 0, *l.size - 1, l.launcher);
  l.local_size = variables.find_number("LOCAL_WORLD_SIZE", 1, *l.size);
  l.local_rank = variables.find_number("LOCAL_RANK", 0, l.local_size.value_or(*l.size) - 1);
  l.lacking = "MASTER_ADDR names the host of rank 0 alone";
  fill_hosts_of_one(l);
  finding said;
  said.ranks = std::move(l);
  return said;
}

}  // namespace tagma::sources
