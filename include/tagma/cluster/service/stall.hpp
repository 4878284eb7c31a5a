// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run of a cluster waits for that lasts: asked of the tasks that it concerns.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/gathering.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma::service {

/// A run that lasts, as its session knows it.
struct lasting_run {
  std::uint64_t graph, step;
  std::int64_t lasted_ns;
  const std::string& container;
  const std::vector<placed_task>& tasks;
  const std::vector<std::shared_ptr<outlet>>& outlets;  ///< of each task
  const std::vector<any_program>& parts;                ///< likewise; empty graphs of those that have none
  const wait_limits& limits;                            ///< of the run, which end the questions too
};

/// Questions to tasks, by their positions; nullptr for those that are not asked.
using task_questions = std::vector<std::unique_ptr<question>>;

/// "waiting for /job:ps/replica:0/task:1 at host:port for 5 s"
[[nodiscard]] std::string who_is_missing(const std::vector<placed_task>& tasks, const task_questions& all,
                                         std::int64_t lasted_ns);

/// Whom the master of a session waits for while it opens that; empty if it says nothing.
[[nodiscard]] std::string what_opens(std::uint64_t graph, outlet& master, const wait_limits& limits);

/// What it waits for, as its tasks say, each of which has two seconds to answer.
[[nodiscard]] std::string what_lasts(const lasting_run& run);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/stall.ipp"
#endif
