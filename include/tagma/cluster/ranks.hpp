// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// From ranks to roles: what launchers such as mpirun and srun tell a process, and how that becomes a cluster.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/cluster.hpp"

namespace tagma {

/// How many tasks each job has. Ranks are dealt out to the jobs in the order of their names: of {"ps": 1, "worker": 3}
/// rank 0 is the parameter server.
using job_counts = std::map<std::string, int>;

/// Reads "ps=1,worker=3". Throws `invalid_argument`, which begins with `where`.
[[nodiscard]] job_counts job_counts_from(std::string_view text, std::string_view where);

/// The task that a rank is. Throws `invalid_argument` for a rank that is none.
[[nodiscard]] task_id task_of_rank(const job_counts& jobs, int rank);

/// What a launcher tells a process.
struct launch {
  std::string launcher{};           ///< "Open MPI"
  int rank = 0;                     ///< among all processes that were started together
  std::optional<int> size{};        ///< how many these are
  std::optional<int> local_rank{};  ///< among those of this host
  std::optional<int> local_size{};
  std::vector<std::string> hosts{};          ///< of each rank; empty if the launcher does not say
  std::string lacking{};                     ///< why it does not, as the end of a sentence
  std::optional<std::uint16_t> base_port{};  ///< that the launcher's numbers suggest
};

/// Gives `hosts` to a launch of which all processes are on this host, by `size` and `local_size`: "localhost" for each.
/// Leaves any other as it is.
void fill_hosts_of_one(launch& l);

/// The address of each task: the host of its rank, and `base_port` plus the number of lower ranks of that host; port 0
/// for a single process. Without `jobs` all are tasks of job "worker". A port that is given comes before that of the
/// launch, and `customary_port` behind it. Throws `invalid_argument` where the counts of the jobs do not add up to the
/// size, and where ports end; `failed_precondition` where the launcher does not say which hosts there are.
[[nodiscard]] cluster cluster_of(const launch& l, const job_counts& jobs, std::optional<std::uint16_t> port = {});

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/ranks.ipp"
#endif
