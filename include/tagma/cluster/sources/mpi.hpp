// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What launchers of MPI programs tell a process. MPI itself is not asked: a program that it starts need not use it.
///
/// | launcher          | rank                   | size                   | local rank                   | local size |
/// | Open MPI          | OMPI_COMM_WORLD_RANK   | OMPI_COMM_WORLD_SIZE   | OMPI_COMM_WORLD_LOCAL_RANK   |
/// OMPI_COMM_WORLD_LOCAL_SIZE   | | MVAPICH2          | MV2_COMM_WORLD_RANK    | MV2_COMM_WORLD_SIZE    |
/// MV2_COMM_WORLD_LOCAL_RANK    | MV2_COMM_WORLD_LOCAL_SIZE    | | MPICH, Intel MPI  | PMI_RANK               |
/// PMI_SIZE               | MPI_LOCALRANKID              | MPI_LOCALNRANKS              | | PMIx              |
/// PMIX_RANK              |                        |                              |                              |

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

namespace detail {

/// The variables of a launcher; null for those that it lacks.
struct mpi_variables {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

}  // namespace detail

/// "Open MPI", "MVAPICH2", "MPICH" or "PMIx": the first one of this order that says a rank; empty if none does.
[[nodiscard]] std::string mpi_launcher(const environment& variables);

[[nodiscard]] bool has_mpi(const environment& variables);

/// The rank that the launcher says. No launcher of MPI says which hosts there are. They are known where
///  - all processes are on this one;
///  - `srun` started the processes, and says the same rank and size (for the rest of what it says see slurm.hpp);
///  - `mpirun` started them in an allocation of Slurm, on all of its nodes, each with as many as this one, the first
///    ranks on the first node. SLURMD_NODENAME must agree, if it is set.
/// PMIx has no variable for the size; Slurm's is used. Throws `invalid_argument`, which names the variable.
[[nodiscard]] finding mpi(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/mpi.ipp"
#endif
