// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of site.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/cluster/site.hpp"
#include "tagma/graph/pass/place.hpp"

namespace tagma {

TAGMA_DECL std::vector<task_devices> devices_of(const cluster& c) {
  std::vector<task_devices> all;
  for (const auto& [job, tasks] : c.as_map())
    for (const auto& [task, at] : tasks) all.push_back({{job, task}});
  return all;
}

TAGMA_COLD TAGMA_DECL std::vector<task_devices> visible_tasks(std::vector<task_devices> all, const task_id& home,
                                                              const std::vector<std::string>& filters) {
  std::vector<device_spec> wanted;
  for (const std::string& f : filters) {
    const parsed_device one = parse_device(f);
    if (!one) fail(status_code::invalid_argument, {"device filter '", f, "' is no name of a device or a task"});
    wanted.push_back(*one);
  }
  if (!wanted.empty())
    std::erase_if(all, [&](const task_devices& t) {
      if (t.id == home) return false;
      const device_spec name = task_device(t.id, "CPU", 0);
      return std::none_of(wanted.begin(), wanted.end(), [&](const device_spec& f) { return covers(f, name); });
    });
  return all;
}

TAGMA_DECL cluster_site::cluster_site(const any_program& program, std::vector<task_devices> tasks, const task_id& home,
                                      const variable_homes& existing)
    : tasks_(std::move(tasks)) {
  const ir::graph_view g = program.graph();
  std::vector<device_entry> devices;
  std::vector<std::int16_t> task_of;
  bool is_home = false;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    is_home = is_home || tasks_[t].id == home;
    for (int cpu = 0; cpu < tasks_[t].cpus; ++cpu) {
      devices.push_back({task_device(tasks_[t].id, "CPU", cpu), memory_kind::host});
      task_of.push_back(static_cast<std::int16_t>(t));
    }
  }
  if (!is_home)
    fail(status_code::invalid_argument,
         {"a program is placed on ", tasks_.size(), " tasks, of which none is that of its client, ", to_string(home)});
  fixed_array<ir::need, heap_room> needs;
  needs.allocate(g.nodes.size());
  for (ir::need& n : needs) n = ir::need::value;
  static constexpr device_text types[] = {device_text("CPU")};
  const ir::device_set set{devices, types,
                           [](const ir::op_info&, dtype, std::string_view type) { return type == "CPU"; },
                           task_device(home)};
  heap_array<device_spec> homes(existing.empty() ? 0 : g.nodes.size());
  for (std::size_t i = 0; i < homes.size(); ++i) {
    const ir::node& n = g.nodes[i];
    if (!n.op->info->is(ir::op_kind::variable)) continue;
    const auto found = existing.find(std::string(n.name).append(n.suffix));
    if (found != existing.end()) homes[i] = found->second;
  }
  const ir::assigned_devices assigned(homes);
  const auto placed = ir::place<heap_room>(g, needs, set, program.soft(), assigned.names());
  if (placed.failure.problem != ir::place_problem::none)
    fail(ir::code_of(placed.failure.problem), {ir::to_string(placed.failure, g, set)});
  for (const std::int16_t d : placed.devices()) {
    task_.push_back(task_of[static_cast<std::size_t>(d)]);
    device_.emplace_back();
    if (tasks_[static_cast<std::size_t>(task_.back())].cpus == 1) continue;
    device_.back().type = devices[static_cast<std::size_t>(d)].name.type;
    device_.back().id = devices[static_cast<std::size_t>(d)].name.id;
  }
}

TAGMA_DECL device_spec cluster_site::device_of(ir::node_id node) const {
  const auto i = static_cast<std::size_t>(node);
  const device_spec& here = device_[i];
  return task_device(tasks_[static_cast<std::size_t>(task_[i])].id, "CPU", here.empty() ? 0 : here.id);
}

}  // namespace tagma
