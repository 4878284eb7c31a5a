// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the nodes of a program run that several tasks share: on the devices of a cluster, by the placer that the
/// compiler runs.

#include <map>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/graph/cut.hpp"
#include "tagma/graph/placement.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma {

/// What a task has for a program.
struct task_devices {
  task_id id;
  int cpus = 1;                        ///< "/device:CPU:0" and so on
  std::vector<device_offer> others{};  ///< of different types
};

/// The tasks of a cluster, each with one CPU device and no others, in the order of their jobs and indices.
[[nodiscard]] std::vector<task_devices> devices_of(const cluster& c);

/// Those of them that one of the filters names, "/job:ps" or "/job:worker/task:1", and home; all, if there is no
/// filter. Throws InvalidArgument for a filter that is no name.
[[nodiscard]] std::vector<task_devices> visible_tasks(std::vector<task_devices> all, const task_id& home,
                                                      const std::vector<std::string>& filters);

/// Where variables are that containers of the tasks have already: complete names of devices, by the names of the
/// variables; those of an optimizer are "w/adam_m".
using variable_homes = std::map<std::string, device_spec, std::less<>>;

/// The task and the device of each node of a program.
///
/// Nodes that ask for nothing are where their inputs are, else with the task of the client, as on one machine; what
/// devices besides CPUs have kernels for is on one of those, wherever it is. Where tasks differ in the kernels that
/// they have for a type of devices, those count that all have. A job without a task, or a task without a device, is any
/// of these; the first is taken. A variable that exists stays where it is, with what updates it, whatever the program
/// asks for.
class cluster_site {
 public:
  /// Throws InvalidArgument for what cannot be placed, with the node and what it asks for, or if there is no task.
  /// @param home the task of the client; one of `tasks`
  cluster_site(const any_program& program, std::vector<task_devices> tasks, const task_id& home,
               const variable_homes& existing = {});

  /// The tasks and their devices, in the order of their numbers.
  [[nodiscard]] const std::vector<task_devices>& tasks() const { return tasks_; }
  /// For `ir::cut`; tasks are positions in `tasks()`.
  [[nodiscard]] ir::cut_site view() const { return {task_, device_, static_cast<int>(tasks_.size())}; }
  /// The complete name of the device of a node.
  [[nodiscard]] device_spec device_of(ir::node_id node) const;

 private:
  std::vector<task_devices> tasks_;
  std::vector<std::int16_t> task_;   // of each node
  std::vector<device_spec> device_;  // of each node, as its task knows it; nothing for the only one
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/site.ipp"
#endif
