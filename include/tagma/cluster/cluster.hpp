// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which tasks a cluster has: jobs by name, and of each job the addresses of its tasks by their indices. What
/// TensorFlow calls a ClusterSpec.
///
///     cluster c({{"ps", {"10.0.0.1:2222"}}, {"worker", {"10.0.0.2:2222", "10.0.0.3:2222"}}});
///     cluster sparse({{"worker", {{3, "10.0.0.5:2222"}, {7, "10.0.0.9:2222"}}}});

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/address.hpp"
#include "tagma/cluster/limits.hpp"

namespace tagma {

/// A task of a cluster.
struct task_id {
  std::string job;
  int task = 0;

  friend bool operator==(const task_id&, const task_id&) = default;
  friend auto operator<=>(const task_id&, const task_id&) = default;
};

/// `task 3 of job "worker"`.
[[nodiscard]] std::string to_string(const task_id& id);

/// Addresses of the tasks of one job as they are written: a list, whose positions are indices, or addresses by index.
class task_addresses {
 public:
  /// One address, as a text or as itself. One argument by itself, since braces around two texts must be a list of two.
  struct written {
    std::string text;

    written(const char* a) : text(a) {}
    written(std::string a) : text(std::move(a)) {}
    written(std::string_view a) : text(a) {}
    written(const address& a) : text(to_string(a)) {}
  };

  task_addresses() = default;
  task_addresses(std::initializer_list<written> list);
  task_addresses(std::initializer_list<std::pair<int, written>> by_index);
  /// Of texts or addresses.
  template <class Address>
  task_addresses(const std::vector<Address>& list) {
    for (const Address& a : list) entries_.emplace_back(static_cast<std::int64_t>(entries_.size()), written(a).text);
  }
  template <class Address, class Order>
  task_addresses(const std::map<int, Address, Order>& by_index) {
    for (const auto& [index, a] : by_index) entries_.emplace_back(index, written(a).text);
  }

  /// Indices and addresses, as they were written.
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::string>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::int64_t, std::string>> entries_;
};

/// A job as it is written.
struct job_addresses {
  std::string job;
  task_addresses tasks;
};

/// Jobs by name, each of tasks with addresses. Immutable once it is made; equal to another if all tasks and addresses
/// are, however they were written.
///
/// Whoever makes one throws `invalid_argument`, which names the job, the task and the address, for
///  - a name that is no job of a device name: it begins with a letter, goes on with letters, digits and '_', and has at
///    most 31 characters;
///  - an address that is none, an index that is negative or not below `cluster_limits::tasks`, a task that has two
///    addresses, two tasks that have one;
///  - port 0, unless there is one task: nobody else could find it;
///  - tasks at loopback addresses or Unix sockets beside tasks at others: each host would find itself there.
class cluster {
 public:
  using tasks_type = std::map<int, address>;
  using jobs_type = std::map<std::string, tasks_type, std::less<>>;

  /// Of no jobs.
  cluster() = default;
  cluster(std::initializer_list<job_addresses> jobs);
  explicit cluster(const std::vector<job_addresses>& jobs);
  /// Of what `task_addresses` is made of.
  template <class Tasks, class Order>
  explicit cluster(const std::map<std::string, Tasks, Order>& jobs) : cluster(listed(jobs)) {}

  /// One task, which listens at a port that the system chooses: {"local": ["localhost:0"]}.
  [[nodiscard]] static cluster local();

  /// True if there are no jobs.
  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  /// All jobs, in the order of their names, of their tasks.
  [[nodiscard]] const jobs_type& as_map() const { return jobs_; }

  /// Names in order.
  [[nodiscard]] std::vector<std::string> jobs() const;
  /// True if there is a job of this name.
  [[nodiscard]] bool has_job(std::string_view job) const { return jobs_.find(job) != jobs_.end(); }
  /// True if that job has a task of this index.
  [[nodiscard]] bool has_task(std::string_view job, int task) const;
  /// Tasks of all jobs.
  [[nodiscard]] int num_tasks() const;

  /// How many tasks a job has, holes not counted. This and what follows throws `invalid_argument`, which says what
  /// there is, for a job or a task that is not there.
  [[nodiscard]] int num_tasks(std::string_view job) const { return static_cast<int>(tasks_of(job).size()); }
  /// The indices of the tasks of a job, in order.
  [[nodiscard]] std::vector<int> task_indices(std::string_view job) const;
  /// Where a task is reached.
  [[nodiscard]] const address& task_address(std::string_view job, int task) const;
  /// By index, with holes where a job has no such task.
  [[nodiscard]] std::vector<std::optional<address>> job_tasks(std::string_view job) const;
  /// True if the indices of a job's tasks are 0, 1, 2 and so on.
  [[nodiscard]] bool is_dense(std::string_view job) const;

  friend bool operator==(const cluster&, const cluster&) = default;

 private:
  friend class cluster_builder;

  template <class Jobs>
  [[nodiscard]] static std::vector<job_addresses> listed(const Jobs& jobs) {
    std::vector<job_addresses> list;
    for (const auto& [job, tasks] : jobs) list.push_back({job, tasks});
    return list;
  }
  [[nodiscard]] const tasks_type& tasks_of(std::string_view job) const;

  jobs_type jobs_;
};

/// As JSON: dense jobs as lists, others as objects by index. `cluster_from_json` reads the same cluster from it.
[[nodiscard]] std::string to_string(const cluster& c);

/// Makes a cluster task by task; sentences of errors begin with what the caller says of where it found something.
class cluster_builder {
 public:
  /// A job, which may stay without tasks. Throws if there is one of this name.
  void add_job(std::string_view job, std::string_view where);
  /// A task of a job that was added.
  void add_task(std::string_view job, std::int64_t task, std::string_view address_text, std::string where);
  /// What was added. Throws where tasks do not go together.
  [[nodiscard]] cluster finish() &&;

 private:
  void check_together(const address& a, const std::string& where);

  cluster made_;
  std::map<address, std::string> places_;   // where each address was found
  std::string local_, remote_, port_zero_;  // where the first of these was found
  int tasks_ = 0;
};

/// Throws `invalid_argument`, which begins with `where`, unless a name is one of a job.
void check_job_name(std::string_view job, std::string_view where);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/cluster.ipp"
#endif
