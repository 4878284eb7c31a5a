// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of cluster.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/json.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/text.hpp"
#include "tagma/place/device.hpp"

namespace tagma {

TAGMA_DECL std::string to_string(const task_id& id) { return sentence({"task ", id.task, " of job \"", id.job, "\""}); }

TAGMA_DECL task_addresses::task_addresses(std::initializer_list<written> list) {
  for (const written& a : list) entries_.emplace_back(static_cast<std::int64_t>(entries_.size()), a.text);
}

TAGMA_DECL task_addresses::task_addresses(std::initializer_list<std::pair<int, written>> by_index) {
  for (const auto& [index, a] : by_index) entries_.emplace_back(index, a.text);
}

TAGMA_DECL void check_job_name(std::string_view job, std::string_view where) {
  if (job.empty()) fail(status_code::invalid_argument, {where, ": the name of a job is empty"});
  // Device names have the rule; what stands behind a job there must not be part of its name.
  const parsed_device parsed = parse_device("/job:" + std::string(job));
  if (parsed && parsed->job.view() == job) return;
  fail(status_code::invalid_argument,
       {where, ": ", detail::quote(job),
        " is no name of a job, which has at most 31 letters, digits and '_' and begins with a letter"});
}

TAGMA_DECL void cluster_builder::add_job(std::string_view job, std::string_view where) {
  check_job_name(job, where);
  if (!made_.jobs_.try_emplace(std::string(job)).second)
    fail(status_code::invalid_argument, {where, ": job ", detail::quote(job), " is there twice"});
  if (made_.jobs_.size() > static_cast<std::size_t>(cluster_limits::jobs))
    fail(status_code::invalid_argument, {where, ": a cluster has at most ", cluster_limits::jobs, " jobs"});
}

TAGMA_DECL void cluster_builder::add_task(std::string_view job, std::int64_t task, std::string_view address_text,
                                          std::string where) {
  if (task < 0 || task >= cluster_limits::tasks)
    fail(status_code::invalid_argument,
         {where, ": the index of a task is from 0 to ", cluster_limits::tasks - 1, ", and not ", task});
  if (++tasks_ > cluster_limits::tasks)
    fail(status_code::invalid_argument, {where, ": a cluster has at most ", cluster_limits::tasks, " tasks"});
  // A cluster of one may leave its port to the system.
  parsed_address parsed = parse_address(address_text, {.use = address_use::bind});
  if (parsed && parsed->is_unspecified()) parsed = parse_address(address_text);
  if (!parsed)
    fail(status_code::invalid_argument,
         {where, ": address ", detail::quote(address_text), ", position ", parsed.position, ": ", parsed.reason});
  check_together(*parsed, where);
  if (!made_.jobs_.find(job)->second.try_emplace(static_cast<int>(task), *parsed).second)
    fail(status_code::invalid_argument, {where, ": this task has two addresses"});
  places_.emplace(std::move(parsed.value), std::move(where));
}

TAGMA_DECL void cluster_builder::check_together(const address& a, const std::string& where) {
  if (const auto known = places_.find(a); known != places_.end())
    fail(status_code::invalid_argument, {where, " and ", known->second, " have the same address, ", to_string(a)});
  if (a.port == 0 && a.kind != address_kind::unix_socket && port_zero_.empty()) port_zero_ = where;
  std::string& first = a.is_local() ? local_ : remote_;
  if (first.empty()) first = sentence({where, ", ", to_string(a)});
}

TAGMA_DECL cluster cluster_builder::finish() && {
  if (tasks_ > 1 && !port_zero_.empty())
    fail(status_code::invalid_argument,
         {port_zero_, ": port 0 is chosen when it is bound, and the other tasks could not find it"});
  if (!local_.empty() && !remote_.empty())
    fail(status_code::invalid_argument, {local_, ": only processes of one host get there, and ", remote_,
                                         " may be another; give an address that all tasks can reach"});
  return std::move(made_);
}

TAGMA_DECL cluster::cluster(std::initializer_list<job_addresses> jobs) : cluster(std::vector<job_addresses>(jobs)) {}

TAGMA_DECL cluster::cluster(const std::vector<job_addresses>& jobs) {
  cluster_builder builder;
  for (const auto& [job, tasks] : jobs) {
    builder.add_job(job, "cluster");
    for (const auto& [index, text] : tasks.entries())
      builder.add_task(job, index, text, sentence({"task ", index, " of job \"", job, "\""}));
  }
  *this = std::move(builder).finish();
}

TAGMA_DECL cluster cluster::local() { return cluster({{"local", {"localhost:0"}}}); }

TAGMA_DECL std::vector<std::string> cluster::jobs() const {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs_) names.push_back(job);
  return names;
}

TAGMA_DECL bool cluster::has_task(std::string_view job, int task) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.count(task) != 0;
}

TAGMA_DECL int cluster::num_tasks() const {
  std::size_t count = 0;
  for (const auto& [job, tasks] : jobs_) count += tasks.size();
  return static_cast<int>(count);
}

TAGMA_DECL const cluster::tasks_type& cluster::tasks_of(std::string_view job) const {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) return found->second;
  if (empty()) fail(status_code::invalid_argument, {"there is no job ", detail::quote(job), ": the cluster is empty"});
  fail(status_code::invalid_argument, {"there is no job ", detail::quote(job), " in the cluster, which has ",
                                       jobs_.size() == 1 ? "job " : "jobs ", detail::enumerated(jobs())});
}

TAGMA_DECL std::vector<int> cluster::task_indices(std::string_view job) const {
  std::vector<int> indices;
  for (const auto& [index, a] : tasks_of(job)) indices.push_back(index);
  return indices;
}

TAGMA_DECL const address& cluster::task_address(std::string_view job, int task) const {
  const tasks_type& tasks = tasks_of(job);
  const auto found = tasks.find(task);
  if (found != tasks.end()) return found->second;
  if (tasks.empty())
    fail(status_code::invalid_argument, {"there is no task ", task, " of job \"", job, "\": it has none"});
  if (is_dense(job))
    fail(status_code::invalid_argument,
         {"there is no task ", task, " of job \"", job, "\", whose tasks are 0 to ", tasks.size() - 1});
  std::vector<std::string> indices;
  for (const auto& [index, a] : tasks) indices.push_back(std::to_string(index));
  fail(status_code::invalid_argument,
       {"there is no task ", task, " of job \"", job, "\", which has ", detail::enumerated(indices)});
}

TAGMA_DECL std::vector<std::optional<address>> cluster::job_tasks(std::string_view job) const {
  const tasks_type& tasks = tasks_of(job);
  std::vector<std::optional<address>> list;
  if (!tasks.empty()) list.resize(static_cast<std::size_t>(tasks.rbegin()->first) + 1);
  for (const auto& [index, a] : tasks) list[static_cast<std::size_t>(index)] = a;
  return list;
}

TAGMA_DECL bool cluster::is_dense(std::string_view job) const {
  const tasks_type& tasks = tasks_of(job);
  return tasks.empty() || tasks.rbegin()->first == static_cast<int>(tasks.size()) - 1;
}

TAGMA_DECL std::string to_string(const cluster& c) {
  std::string out = "{";
  for (const auto& [job, tasks] : c.as_map()) {
    const bool dense = c.is_dense(job);
    append_parts(out, {out.size() == 1 ? "\"" : ", \"", job, dense ? "\": [" : "\": {"});
    const char* comma = "";
    for (const auto& [index, a] : tasks) {
      out += comma;
      if (!dense) append_parts(out, {"\"", index, "\": "});
      json::append_quoted(out, to_string(a));
      comma = ", ";
    }
    out += dense ? "]" : "}";
  }
  return out += "}";
}

}  // namespace tagma
