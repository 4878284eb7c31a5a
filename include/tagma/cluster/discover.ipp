// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of discover.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/discover.hpp"
#include "tagma/cluster/sources/dmlc.hpp"
#include "tagma/cluster/sources/kubernetes.hpp"
#include "tagma/cluster/sources/mpi.hpp"
#include "tagma/cluster/sources/slurm.hpp"
#include "tagma/cluster/sources/tf_config.hpp"
#include "tagma/cluster/sources/torchrun.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL void discoverer::ask_all() {
  // A role that is said outright is one of any cluster; that of another source is one of its own, or of one before it.
  if (sources::has_command_line(options_)) ask("the command line", sources::command_line(options_), true);
  own(sources::own_variables_there(variables_).c_str(), sources::has_own_variables, sources::own_variables, true);
  own("TF_CONFIG", sources::has_tf_config, sources::tf_config);
  own("TAGMA_PODS", sources::has_kubernetes, sources::kubernetes);
  own("torchrun", sources::has_torchrun, sources::torchrun);
  const std::string launcher = sources::mpi_launcher(variables_);
  own(launcher.c_str(), sources::has_mpi, sources::mpi);
  own("DMLC", sources::has_dmlc, sources::dmlc);
  own("Slurm", sources::has_slurm, sources::slurm);
}

TAGMA_DECL discovery discoverer::result() {
  ask_all();
  return finish();
}

TAGMA_DECL std::optional<cluster> discoverer::members() {
  only_members_ = true;
  ask_all();
  if (source_.empty()) return std::nullopt;
  return std::move(members_);
}

TAGMA_DECL bool discoverer::complete() const {
  if (source_.empty()) return false;
  if (only_members_) return true;
  const std::string& job = options_found_.job;
  if (job.empty()) return members_.num_tasks() == 1;
  return options_found_.task >= 0 || (members_.has_job(job) && members_.num_tasks(job) == 1);
}

TAGMA_DECL void discoverer::own(const char* name, bool (*has)(const environment&),
                                sources::finding (*read)(const environment&), bool outright) {
  if (!has(variables_)) return;
  if (complete())
    found_.unused.emplace_back(name);
  else
    ask(name, read(variables_), outright);
}

TAGMA_DECL void discoverer::ask(const char* name, sources::finding f, bool outright) {
  const bool had_cluster = !source_.empty();
  if (!had_cluster && f.members) {
    members_ = std::move(*f.members);
    source_ = name;
  } else if (!had_cluster && f.ranks) {
    members_ = cluster_of(*f.ranks, settings_.jobs, settings_.port);
    source_ = name;
  } else if (!had_cluster && !f.lacking.empty()) {
    fail(status_code::failed_precondition,
         {name, ": ", f.lacking, "; describe the cluster (--cluster, TAGMA_CLUSTER)"});
  }
  bool used = !had_cluster && !source_.empty();
  if (outright || !source_.empty())
    used = take_role(name, f.options) || used;
  else if (idle_.name.empty() && (!f.options.job.empty() || f.options.task >= 0))
    idle_ = {name, f.options};
  if (f.ranks) used = take_rank(*f.ranks, !had_cluster) || used;
  if (!used) found_.unused.emplace_back(name);
}

TAGMA_DECL bool discoverer::take_role(const char* name, const role_options& said) {
  role_options& known = options_found_;
  const bool is_other_job = !known.job.empty() && !said.job.empty() && known.job != said.job;
  if (is_other_job) return false;
  const bool job = known.job.empty() && !said.job.empty(), task = known.task < 0 && said.task >= 0;
  if (job) known.job = said.job;
  if (task) known.task = said.task;
  if ((job || task) && source_ != name) helper_ = name;
  return job || task;
}

TAGMA_DECL bool discoverer::take_rank(const launch& l, bool is_its_cluster) {
  const task_id by_rank = role_of_rank(l);
  role_options& known = options_found_;
  if (by_rank.job.empty()) {
    note_ = sentence({l.launcher, " says rank ", l.rank, l.size ? " of " + std::to_string(*l.size) : std::string(),
                      ", which counts no tasks of this cluster"});
    return false;
  }
  if (is_its_cluster &&
      ((!known.job.empty() && known.job != by_rank.job) || (known.task >= 0 && known.task != by_rank.task)))
    fail(status_code::invalid_argument,
         {"this process is said to be ", known.task < 0 ? "a task of job \"" + known.job + "\"" : spelled(known),
          ", and ", l.launcher, " started it as rank ", l.rank, ", which is ", to_string(by_rank)});
  return take_role(l.launcher.c_str(), {by_rank.job, by_rank.task});
}

TAGMA_DECL std::string discoverer::spelled(const role_options& r) {
  return r.job.empty() ? sentence({"task ", r.task}) : to_string(task_id{r.job, r.task});
}

TAGMA_DECL task_id discoverer::role_of_rank(const launch& l) const {
  if (!l.size) return {};
  const std::string& job = options_found_.job;
  if (!job.empty() && members_.has_job(job) && members_.num_tasks(job) == *l.size)
    return {job, members_.task_indices(job)[static_cast<std::size_t>(l.rank)]};
  if (members_.num_tasks() != *l.size) return {};
  int before = 0;
  for (const auto& [name, tasks] : members_.as_map()) {
    const int count = static_cast<int>(tasks.size());
    if (l.rank < before + count) return {name, members_.task_indices(name)[static_cast<std::size_t>(l.rank - before)]};
    before += count;
  }
  return {};
}

TAGMA_DECL discovery discoverer::finish() {
  const bool has_role = !options_found_.job.empty() || options_found_.task >= 0;
  if (source_.empty() && (has_role || !idle_.name.empty())) {
    const role_options& said = has_role ? options_found_ : idle_.role;
    fail(status_code::invalid_argument, {has_role ? helper_ : idle_.name, " says that this process is ",
                                         said.task < 0 ? "of job \"" + said.job + "\"" : spelled(said),
                                         ", and nothing describes a cluster (--cluster, TAGMA_CLUSTER, TF_CONFIG)"});
  }
  found_.source = source_;
  if (source_.empty()) {
    found_.explanation = "Nothing describes a cluster: this process is one by itself";
  } else {
    found_.role = make_role();
    append_parts(found_.explanation,
                 {"The cluster is that of ", source_, "; this process is ", to_string(found_.role)});
    if (!helper_.empty()) append_parts(found_.explanation, {", as ", helper_, " says"});
  }
  if (!found_.unused.empty())
    append_parts(found_.explanation, {". Also there, and not used: ", enumerated(found_.unused)});
  found_.explanation += '.';
  return std::move(found_);
}

TAGMA_DECL role discoverer::make_role() {
  try {
    return role(std::move(members_), options_found_);
  } catch (const error& e) {
    if (note_.empty()) throw;
    const std::string_view text = e.what();
    fail(e.code(), {text.substr(text.find(": ") + 2), ". ", note_});
  }
}

}  // namespace detail

TAGMA_DECL discovery discover(const sources::arguments& options, const environment& variables) {
  return detail::discoverer(options, variables).result();
}

TAGMA_DECL discovery discover(int argc, const char* const* argv, const environment& variables) {
  return discover(argc > 1 ? sources::arguments(argv + 1, argv + argc) : sources::arguments(), variables);
}

TAGMA_DECL std::optional<cluster> discover_cluster(const sources::arguments& options, const environment& variables) {
  return detail::discoverer(options, variables).members();
}

TAGMA_DECL role role_from(int argc, const char* const* argv, const environment& variables) {
  return discover(argc, argv, variables).role;
}

}  // namespace tagma
