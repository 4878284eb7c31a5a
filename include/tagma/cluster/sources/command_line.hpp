// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Options of a command line that describe a cluster. All others are the program's, and are passed over.
///
///     --cluster JSON or FILE               the cluster
///     --ps_hosts a:1,b:2                   tasks of a job, instead; also of worker, chief, master and evaluator
///     --job NAME, --job_name NAME          which job this process belongs to
///     --task INDEX, --task_index INDEX     which task of it this process is
///     --jobs ps=1,worker=3                 which jobs ranks of a launcher are dealt out to
///     --port PORT                          the first port of processes that a launcher started
///
/// Values stand behind `=` or are the next argument; '-' in a name is '_'; `--` ends the options. Also the variables
/// that say the same: TAGMA_CLUSTER, TAGMA_JOB, TAGMA_TASK, TAGMA_JOBS and TAGMA_PORT.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

/// Arguments of a program, without its name.
using arguments = std::vector<std::string>;

namespace detail {

/// An option as it was written and its value.
struct option {
  std::string written;
  std::string value;
};

}  // namespace detail

/// True if an option says something of a cluster or of the role in it.
[[nodiscard]] bool has_command_line(const arguments& options);
/// What the options say. Throws `invalid_argument`, which names the option, for one that is there twice (by whichever
/// name), lacks its value or has a value that is none.
[[nodiscard]] finding command_line(const arguments& options);

/// The first of TAGMA_CLUSTER, TAGMA_JOB and TAGMA_TASK that is set; empty if none is.
[[nodiscard]] std::string own_variables_there(const environment& variables);
[[nodiscard]] bool has_own_variables(const environment& variables);
/// The same of TAGMA_CLUSTER, TAGMA_JOB and TAGMA_TASK.
[[nodiscard]] finding own_variables(const environment& variables);

/// What is said of processes that a launcher started.
struct launch_settings {
  job_counts jobs;
  std::optional<std::uint16_t> port;
};

/// --jobs or else TAGMA_JOBS, --port or else TAGMA_PORT.
[[nodiscard]] launch_settings launch_settings_from(const arguments& options, const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/command_line.ipp"
#endif
