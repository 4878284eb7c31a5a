// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/mpi.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

using names = std::vector<std::string>;

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

launch launched(const environment& variables) {
  const auto found = sources::mpi(variables);
  REQUIRE(found.ranks);
  return *found.ranks;
}

}  // namespace

TEST_CASE("launchers of MPI programs have names of their own") {
  const launch open = launched({{"OMPI_COMM_WORLD_RANK", "3"},
                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  CHECK(open.launcher == "Open MPI");
  CHECK(open.rank == 3);
  CHECK(open.size == 4);
  CHECK(open.local_rank == 1);
  CHECK(open.local_size == 2);
  CHECK(open.hosts.empty());
  CHECK(launched({{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "2"}}).launcher == "MVAPICH2");
  const launch hydra =
      launched({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  CHECK(hydra.launcher == "MPICH");
  CHECK(hydra.hosts == names{"localhost", "localhost"});
  const launch pmix = launched({{"PMIX_RANK", "1"}});
  CHECK(pmix.launcher == "PMIx");
  CHECK_FALSE(pmix.size);
  CHECK(has(text_of([&] { (void)cluster_of(pmix, {}); }), "PMIx says that this is rank 1, and not how many there are"));
  // Open MPI sets PMIx's variables, too.
  CHECK(launched({{"PMIX_RANK", "1"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}).launcher ==
        "Open MPI");
  CHECK_FALSE(sources::has_mpi({{"OMPI_COMM_WORLD_SIZE", "2"}}));
}

TEST_CASE("hosts of MPI ranks are unknown, unless there is one") {
  CHECK(launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}).hosts == names{"localhost"});
  const launch far = launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  CHECK(code_of([&] { (void)cluster_of(far, {}); }) == status_code::failed_precondition);
  CHECK(has(text_of([&] { (void)cluster_of(far, {}); }), "not which hosts the others are on; describe the cluster"));
}

TEST_CASE("mpirun in an allocation of Slurm") {
  const auto with = [](const char* rank, const char* local, const char* node) {
    return environment{{"OMPI_COMM_WORLD_RANK", rank},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", local},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                       {"SLURM_JOB_ID", "12"},
                       {"SLURM_JOB_NODELIST", "n[1-2]"},
                       {"SLURMD_NODENAME", node},
                       // mpirun starts one daemon on each node by srun: these describe the daemon.
                       {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "0"},
                       {"SLURM_NTASKS", "2"},
                       {"SLURM_STEP_NODELIST", "n[1-2]"}};
  };
  const launch l = launched(with("2", "0", "n2"));
  CHECK(l.hosts == names{"n1", "n1", "n2", "n2"});
  CHECK(launched(with("0", "0", "n1")).hosts == l.hosts);  // the daemon has the same rank, among fewer
  CHECK(cluster_of(l, {}) == cluster({{"worker", {"n1:15012", "n1:15013", "n2:15012", "n2:15013"}}}));
  for (const environment& other : {with("2", "1", "n2"), with("1", "1", "n2"), with("2", "0", "n1")}) {
    const launch cyclic = launched(other);
    CHECK(cyclic.hosts.empty());
    CHECK(has(text_of([&] { (void)cluster_of(cyclic, {}); }), "not distributed in blocks"));
  }
}

TEST_CASE("srun that speaks PMI or PMIx") {
  const auto with = [](const char* name, const char* rank) {
    return environment{{name, rank},           {"PMI_SIZE", "3"},      {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "2"},  {"SLURM_NTASKS", "3"},  {"SLURM_STEP_NODELIST", "n[1-2]"},
                       {"SLURM_LOCALID", "0"}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_TASKS_PER_NODE", "2,1"}};
  };
  for (const char* name : {"PMI_RANK", "PMIX_RANK"}) {
    const launch l = launched(with(name, "2"));
    CHECK(l.hosts == names{"n1", "n1", "n2"});
    CHECK(l.rank == 2);
    CHECK(l.base_port == 15012);
  }
  CHECK(launched(with("PMI_RANK", "1")).hosts.empty());
}

TEST_CASE("mistakes in variables of MPI name them") {
  CHECK(has(text_of([] {
              (void)sources::mpi({{"OMPI_COMM_WORLD_RANK", "0"}});
            }),
            "Open MPI: the variable OMPI_COMM_WORLD_SIZE is not set"));
  CHECK(has(text_of([] {
              (void)sources::mpi({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
            }),
            "OMPI_COMM_WORLD_RANK: \"2\" is not a whole number from 0 to 1"));
  CHECK(has(text_of([] { (void)sources::mpi({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}); }), "PMI_RANK: \"x\""));
  CHECK(has(text_of([] {
              (void)sources::mpi({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "2"}});
            }),
            "MPI_LOCALRANKID: \"2\""));
  CHECK(has(text_of([] { (void)sources::mpi({{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}); }), "PMI_SIZE: \"0\""));
}
