// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of mpi.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/mpi.hpp"
#include "tagma/cluster/sources/slurm.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::sources {

namespace detail {

TAGMA_DECL const mpi_variables* mpi_variables_of(const environment& variables) {
  static constexpr mpi_variables known[] = {
      {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
       "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
       "MV2_COMM_WORLD_LOCAL_SIZE"},
      {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
      {"PMIx", "PMIX_RANK", nullptr, nullptr, nullptr},
  };
  for (const mpi_variables& v : known)
    if (variables.has(v.rank)) return &v;
  return nullptr;
}

/// Ranks of mpirun in an allocation: as many on each of its nodes as on this one, or nothing.
TAGMA_DECL void fill_hosts_of_allocation(const environment& variables, launch& l) {
  const std::vector<std::string> nodes = slurm_hosts(variables);
  if (nodes.empty() || !l.size || !l.local_size || !l.local_rank) return;
  const int each = *l.local_size, node = l.rank / each;
  const auto name = variables.find("SLURMD_NODENAME");
  if (static_cast<std::int64_t>(each) * static_cast<std::int64_t>(nodes.size()) != *l.size ||
      l.rank % each != *l.local_rank || (name && *name != nodes[static_cast<std::size_t>(node)])) {
    l.lacking = "its processes are not distributed in blocks of one size over the nodes of the allocation";
    return;
  }
  for (const std::string& host : nodes) l.hosts.insert(l.hosts.end(), static_cast<std::size_t>(each), host);
  if (const auto job = variables.find("SLURM_JOB_ID"))
    l.base_port = base_port_of_job(tagma::detail::number_between(*job, 0, 999'999'999'999, "SLURM_JOB_ID"));
}

/// What Slurm says of processes that `srun` started, if it is of the same ones.
TAGMA_DECL bool fill_from_step(const environment& variables, launch& l) {
  if (!has_slurm(variables) || variables.find_number("SLURM_PROCID", 0, cluster_limits::tasks - 1) != l.rank)
    return false;
  const finding step = slurm(variables);
  if (l.size && *l.size != *step.ranks->size) return false;
  const std::string launcher = l.launcher;
  l = *step.ranks;
  l.launcher = launcher;
  return true;
}

}  // namespace detail

TAGMA_DECL std::string mpi_launcher(const environment& variables) {
  const detail::mpi_variables* const found = detail::mpi_variables_of(variables);
  return found == nullptr ? "" : found->launcher;
}

TAGMA_DECL bool has_mpi(const environment& variables) { return detail::mpi_variables_of(variables) != nullptr; }

TAGMA_DECL finding mpi(const environment& variables) {
  const detail::mpi_variables* const names = detail::mpi_variables_of(variables);
  if (names == nullptr) return {};
  constexpr int most = cluster_limits::tasks;
  launch l;
  l.launcher = names->launcher;
  l.rank = *variables.find_number(names->rank, 0, most - 1);
  if (names->size != nullptr) {
    l.size = variables.need_number(names->size, 1, most, l.launcher);
    static_cast<void>(variables.find_number(names->rank, 0, *l.size - 1));
    l.local_size = variables.find_number(names->local_size, 1, *l.size);
    l.local_rank = variables.find_number(names->local_rank, 0, l.local_size.value_or(*l.size) - 1);
  }
  if (!detail::fill_from_step(variables, l)) {
    l.lacking = l.size ? "not which hosts the others are on" : "not how many there are";
    fill_hosts_of_one(l);
    if (l.hosts.empty()) detail::fill_hosts_of_allocation(variables, l);
  }
  finding said;
  said.ranks = std::move(l);
  return said;
}

}  // namespace tagma::sources
