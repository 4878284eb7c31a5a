// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of ranks.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/ranks.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL std::int64_t tasks_of_counts(const job_counts& jobs) {
  std::int64_t sum = 0;
  for (const auto& [job, count] : jobs) sum += count;
  return sum;
}

/// The port of each rank: ranks of one host have one port after the other.
TAGMA_DECL std::vector<std::uint16_t> ports_of(const launch& l, std::uint16_t base) {
  std::map<std::string_view, int> next;
  std::vector<std::uint16_t> ports;
  for (const std::string& host : l.hosts) {
    const int port = base + next[host]++;
    if (port > 65535)
      fail(status_code::invalid_argument, {l.launcher, ": host ", quote(host), " has more processes than ports from ",
                                           base, " to 65535; give another base (--port, TAGMA_PORT)"});
    ports.push_back(static_cast<std::uint16_t>(port));
  }
  return ports;
}

}  // namespace detail

TAGMA_DECL job_counts job_counts_from(std::string_view text, std::string_view where) {
  job_counts jobs;
  for (const std::string_view entry : detail::comma_list(text, where)) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      fail(status_code::invalid_argument,
           {where, ": ", detail::quote(entry), " is no job and its number of tasks, as in ps=1,worker=3"});
    const std::string_view job = detail::trimmed(entry.substr(0, equals));
    check_job_name(job, where);
    const std::int64_t count = detail::number_between(detail::trimmed(entry.substr(equals + 1)), 0,
                                                      cluster_limits::tasks, sentence({where, ", job \"", job, "\""}));
    if (!jobs.emplace(job, static_cast<int>(count)).second)
      fail(status_code::invalid_argument, {where, ": job \"", job, "\" is there twice"});
  }
  return jobs;
}

TAGMA_DECL task_id task_of_rank(const job_counts& jobs, int rank) {
  std::int64_t first = 0;
  for (const auto& [job, count] : jobs) {
    if (rank >= first && rank - first < count) return {job, static_cast<int>(rank - first)};
    first += count;
  }
  fail(status_code::invalid_argument, {"there is no rank ", rank, " among ", first, " tasks"});
}

TAGMA_DECL void fill_hosts_of_one(launch& l) {
  if (!l.size || !l.hosts.empty()) return;
  if (*l.size == 1 || l.local_size == l.size) l.hosts.assign(static_cast<std::size_t>(*l.size), "localhost");
}

TAGMA_DECL cluster cluster_of(const launch& l, const job_counts& jobs, std::optional<std::uint16_t> port) {
  if (l.hosts.empty())
    fail(status_code::failed_precondition,
         {l.launcher.empty() ? "the launch" : l.launcher.c_str(), " says that this is rank ", l.rank, ", and ",
          l.lacking.empty() ? "not on which hosts the others are" : l.lacking.c_str(),
          "; describe the cluster (--cluster, TAGMA_CLUSTER)"});
  const auto size = static_cast<int>(l.hosts.size());
  const job_counts counts = jobs.empty() ? job_counts{{"worker", size}} : jobs;
  if (detail::tasks_of_counts(counts) != size)
    fail(status_code::invalid_argument, {l.launcher, " started ", size, " processes, and the jobs have ",
                                         detail::tasks_of_counts(counts), " tasks (--jobs, TAGMA_JOBS)"});
  const std::vector<std::uint16_t> ports = detail::ports_of(l, port.value_or(l.base_port.value_or(customary_port)));
  cluster_builder builder;
  std::size_t rank = 0;
  for (const auto& [job, count] : counts) {
    builder.add_job(job, l.launcher);
    for (int task = 0; task < count; ++task, ++rank) {
      const std::uint16_t chosen = size == 1 && !port && !l.base_port ? std::uint16_t{0} : ports[rank];
      builder.add_task(job, task, sentence({l.hosts[rank], ":", chosen}), sentence({l.launcher, ": rank ", rank}));
    }
  }
  return std::move(builder).finish();
}

}  // namespace tagma
