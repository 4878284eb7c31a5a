// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of site.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <set>

#include "tagma/base/config.hpp"
#include "tagma/cluster/site.hpp"
#include "tagma/graph/local_devices.hpp"
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
    device_spec task = *one;
    task.type = {}, task.id = -1;
    if (std::none_of(all.begin(), all.end(), [&](const task_devices& t) { return covers(task, task_device(t.id)); }))
      fail(status_code::invalid_argument, {"device filter '", f, "' names no task of the cluster"});
    wanted.push_back(task);
  }
  if (!wanted.empty())
    std::erase_if(all, [&](const task_devices& t) {
      if (t.id == home) return false;
      const device_spec name = task_device(t.id);
      return std::none_of(wanted.begin(), wanted.end(), [&](const device_spec& f) { return covers(f, name); });
    });
  return all;
}

namespace detail {

/// The types of devices besides CPUs that some tasks have, in the order in which they are met, and the operations for
/// which all of a type have kernels.
class other_types {
 public:
  explicit other_types(const std::vector<task_devices>& tasks) {
    for (const task_devices& t : tasks)
      for (const device_offer& o : t.others)
        if (o.count > 0) take(o);
    if (names_.size() >= 32)  // a bit each, and one for CPUs
      fail(status_code::invalid_argument, {"the tasks have devices of ", names_.size(), " types; 31 is the most"});
  }
  [[nodiscard]] const std::vector<device_text>& names() const { return names_; }
  /// As of `ir::device_set`; CPUs are the last type, and have all kernels.
  [[nodiscard]] std::uint32_t mask_of(const ir::graph_view& g, ir::node_id i) const {
    std::uint32_t mask = std::uint32_t{1} << names_.size();
    for (std::size_t t = 0; t < names_.size(); ++t)
      if (ir::is_for_device(g, i, [&](const ir::op_info& op) { return kernels_[t].count(op.name) != 0; }))
        mask |= std::uint32_t{1} << t;
    return mask;
  }

 private:
  using operation_names = std::set<std::string, std::less<>>;

  void take(const device_offer& o) {
    operation_names here(o.operations.begin(), o.operations.end());
    std::size_t at = 0;
    while (at < names_.size() && names_[at].view() != o.type) ++at;
    if (at == names_.size()) {
      names_.emplace_back(o.type), kernels_.push_back(std::move(here));
      return;
    }
    std::erase_if(kernels_[at], [&](const std::string& name) { return here.count(name) == 0; });
  }

  std::vector<device_text> names_;
  std::vector<operation_names> kernels_;  // of each type
};

}  // namespace detail

TAGMA_DECL cluster_site::cluster_site(const any_program& program, std::vector<task_devices> tasks, const task_id& home,
                                      const variable_homes& existing)
    : tasks_(std::move(tasks)) {
  const ir::graph_view g = program.graph();
  std::vector<device_entry> devices;
  std::vector<std::int16_t> task_of;
  bool is_home = false;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    is_home = is_home || tasks_[t].id == home;
    const auto list = [&](std::string_view type, int count, memory_kind memory) {
      for (int d = 0; d < count; ++d) {
        devices.push_back({task_device(tasks_[t].id, type, d), memory});
        task_of.push_back(static_cast<std::int16_t>(t));
      }
    };
    list("CPU", tasks_[t].cpus, memory_kind::host);
    for (const device_offer& o : tasks_[t].others) list(o.type, o.count, memory_kind::own);
  }
  constexpr std::size_t most_devices = INT16_MAX;  // as the placer counts them
  if (devices.size() > most_devices)
    fail(status_code::invalid_argument,
         {tasks_.size(), " tasks have ", devices.size(), " devices; a program is placed on ", most_devices,
          " at most; device filters leave tasks out"});
  if (!is_home)
    fail(status_code::invalid_argument,
         {"a program is placed on ", tasks_.size(), " tasks, of which none is that of its client, ", to_string(home)});
  fixed_array<ir::need, heap_room> needs;
  needs.allocate(g.nodes.size());
  for (ir::need& n : needs) n = ir::need::value;
  const detail::other_types others(tasks_);
  std::vector<device_text> types(others.names());
  types.emplace_back("CPU");
  std::vector<std::uint32_t> kernels;
  for (ir::node_id i = 0; types.size() > 1 && i < g.size(); ++i) kernels.push_back(others.mask_of(g, i));
  const ir::device_set set{devices, types,
                           [](const ir::op_info&, dtype, std::string_view type) { return type == "CPU"; },
                           task_device(home), kernels};
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
    const task_devices& there = tasks_[static_cast<std::size_t>(task_.back())];
    if (there.cpus == 1 && there.others.empty()) continue;
    device_.back().type = devices[static_cast<std::size_t>(d)].name.type;
    device_.back().id = devices[static_cast<std::size_t>(d)].name.id;
  }
}

TAGMA_DECL device_spec cluster_site::device_of(ir::node_id node) const {
  const auto i = static_cast<std::size_t>(node);
  const device_spec& here = device_[i];
  const task_id& task = tasks_[static_cast<std::size_t>(task_[i])].id;
  return here.empty() ? task_device(task, "CPU", 0) : task_device(task, here.type.view(), here.id);
}

}  // namespace tagma
