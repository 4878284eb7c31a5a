// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which task of a cluster a process is.

#include <optional>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/place/device.hpp"

namespace tagma {

/// What is said of a role: `{.job = "worker", .task = 3}`.
struct role_options {
  std::string job{};  ///< Empty if it is not said.
  int task = -1;      ///< -1 if it is not said.
};

/// The task that initialises variables and writes checkpoints: the first one of job "chief", or else of "master", or
/// else of "worker"; in a cluster of one job of any other name but "ps" and "evaluator", the first one of that.
[[nodiscard]] std::optional<task_id> chief_of(const cluster& c);

/// A cluster and the task of it that this process is.
class role {
 public:
  /// The only task of a cluster of one, `cluster::local()`.
  role() : role(tagma::cluster::local()) {}

  /// A job need not be said of a cluster that has one, nor a task of a job that has one. An evaluator is in no cluster:
  /// it reads what others write, and nobody connects to it. Throws `invalid_argument` where the cluster has no such
  /// task, and where it has several and it is not said which.
  explicit role(tagma::cluster members, const role_options& options = {});

  /// The whole cluster.
  [[nodiscard]] const tagma::cluster& cluster() const { return members_; }
  /// The job of this process.
  [[nodiscard]] const std::string& job() const { return id_.job; }
  /// The index of this process in its job.
  [[nodiscard]] int task() const { return id_.task; }
  /// Job and index.
  [[nodiscard]] const task_id& id() const { return id_; }

  /// Where others reach this process. Throws `failed_precondition` for an evaluator that is not in the cluster.
  [[nodiscard]] const address& task_address() const;
  /// Job, replica 0 and task: "/job:worker/replica:0/task:3".
  [[nodiscard]] device_spec device() const;

  /// True for the task that initialises and saves.
  [[nodiscard]] bool is_chief() const;
  /// True for a parameter server.
  [[nodiscard]] bool is_ps() const { return id_.job == "ps"; }
  /// True for an evaluator.
  [[nodiscard]] bool is_evaluator() const { return id_.job == "evaluator"; }

  friend bool operator==(const role&, const role&) = default;

 private:
  tagma::cluster members_;
  task_id id_;
};

/// `task 3 of job "worker"`.
[[nodiscard]] std::string to_string(const role& r);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/role.ipp"
#endif
