// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of role.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/role.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL std::string only_job(const cluster& members) {
  const std::vector<std::string> jobs = members.jobs();
  if (jobs.empty()) fail(status_code::invalid_argument, "the cluster is empty, and no task of it can be this process");
  if (jobs.size() > 1)
    fail(status_code::invalid_argument,
         {"the cluster has jobs ", enumerated(jobs), "; say which one this process belongs to (--job, TAGMA_JOB)"});
  return jobs.front();
}

TAGMA_DECL int only_task(const cluster& members, std::string_view job) {
  const std::vector<int> tasks = members.task_indices(job);
  if (tasks.empty()) fail(status_code::invalid_argument, {"job \"", job, "\" has no tasks"});
  if (tasks.size() > 1)
    fail(status_code::invalid_argument,
         {"job \"", job, "\" has ", tasks.size(), " tasks; say which one this process is (--task, TAGMA_TASK)"});
  return tasks.front();
}

}  // namespace detail

TAGMA_DECL std::optional<task_id> chief_of(const cluster& c) {
  const auto& jobs = c.as_map();
  const auto first = [](const std::string& job, const cluster::tasks_type& tasks) -> std::optional<task_id> {
    if (tasks.empty()) return std::nullopt;
    return task_id{job, tasks.begin()->first};
  };
  for (const char* const job : {"chief", "master", "worker"})
    if (const auto found = jobs.find(std::string_view(job)); found != jobs.end() && !found->second.empty())
      return first(found->first, found->second);
  if (jobs.size() != 1 || jobs.begin()->first == "ps" || jobs.begin()->first == "evaluator") return std::nullopt;
  return first(jobs.begin()->first, jobs.begin()->second);
}

TAGMA_DECL role::role(tagma::cluster members, const role_options& options) : members_(std::move(members)) {
  id_.job = options.job.empty() ? detail::only_job(members_) : options.job;
  if (is_evaluator() && !members_.has_job(id_.job)) {
    id_.task = options.task < 0 ? 0 : options.task;
    return;
  }
  id_.task = options.task < 0 ? detail::only_task(members_, id_.job) : options.task;
  static_cast<void>(members_.task_address(id_.job, id_.task));
}

TAGMA_DECL const address& role::task_address() const {
  if (!members_.has_task(id_.job, id_.task))
    fail(status_code::failed_precondition,
         {to_string(id_), " is not in the cluster, and has no address: nobody connects to an evaluator"});
  return members_.task_address(id_.job, id_.task);
}

TAGMA_DECL device_spec role::device() const { return task_device(id_); }

TAGMA_DECL bool role::is_chief() const { return chief_of(members_) == id_; }

TAGMA_DECL std::string to_string(const role& r) { return to_string(r.id()); }

}  // namespace tagma
