// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Finds out which cluster a process belongs to and which task of it the process is, from what is said to it. The first
/// of these that describes a cluster decides:
///
///  1. the command line: --cluster, --ps_hosts and so on (sources/command_line.hpp)
///  2. TAGMA_CLUSTER
///  3. TF_CONFIG
///  4. pods of Kubernetes, which TAGMA_PODS lists
///  5. torchrun, 6. MPI, 7. DMLC, 8. Slurm: launchers, the innermost first
///  9. nothing: a cluster of one, `cluster::local()`
///
/// What that source leaves open of the role, the next ones are asked for; the command line and TAGMA_JOB and TAGMA_TASK
/// come before all others there, too. A rank of a launcher is a role if its launcher started as many processes as the
/// cluster has tasks, or as the job has that is said.

#include <optional>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/role.hpp"
#include "tagma/cluster/sources/command_line.hpp"

namespace tagma {

/// What was found.
struct discovery {
  tagma::role role;
  std::string source;               ///< which one described the cluster: "TF_CONFIG"; empty if none did
  std::vector<std::string> unused;  ///< others that are there, and were not used
  std::string explanation;          ///< a sentence that says all this
};

namespace detail {

/// Asks the sources one after the other.
class discoverer {
 public:
  discoverer(const sources::arguments& options, const environment& variables)
      : options_(options), variables_(variables), settings_(sources::launch_settings_from(options, variables)) {}
  discovery result();
  /// The cluster alone, if a source describes one.
  [[nodiscard]] std::optional<cluster> members();

 private:
  void ask_all();
  [[nodiscard]] bool complete() const;

  void own(const char* name, bool (*has)(const environment&), sources::finding (*read)(const environment&),
           bool outright = false);
  void ask(const char* name, sources::finding f, bool outright = false);

  /// What is not yet known of the role.
  bool take_role(const char* name, const role_options& said);

  /// A rank counts the tasks of the cluster, or of a job that is known.
  bool take_rank(const launch& l, bool is_its_cluster);
  [[nodiscard]] static std::string spelled(const role_options& r);

  /// The task that a rank stands for; one without a job if there is none.
  [[nodiscard]] task_id role_of_rank(const launch& l) const;
  discovery finish();
  role make_role();

  const sources::arguments& options_;
  const environment& variables_;
  sources::launch_settings settings_;
  discovery found_;
  cluster members_;
  role_options options_found_;
  std::string source_, helper_, note_;
  struct {
    std::string name;
    role_options role;
  } idle_{};  // the first source that has a role and no cluster
  bool only_members_ = false;
};

}  // namespace detail

/// Throws what the sources that are asked throw; `invalid_argument` where a role is said and no cluster is, and where
/// the role is left open; `failed_precondition` where a launcher started several processes and does not say where they
/// are.
[[nodiscard]] discovery discover(const sources::arguments& options, const environment& variables);
/// Of a program's arguments, as `main` has them.
[[nodiscard]] discovery discover(int argc, const char* const* argv,
                                 const environment& variables = environment::of_process());

/// The cluster alone, for whoever is no task of it, such as a command that looks into it; nothing if no source
/// describes one. Throws what the sources that are asked throw.
[[nodiscard]] std::optional<cluster> discover_cluster(const sources::arguments& options,
                                                      const environment& variables = environment::of_process());

/// The role alone.
[[nodiscard]] role role_from(int argc, const char* const* argv,
                             const environment& variables = environment::of_process());

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/discover.ipp"
#endif
