// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the nodes of a graph run that is data: on the devices of this process, by the placer that the compiler runs.

#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/graph/placement.hpp"
#include "tagma/plan/devices.hpp"
#include "tagma/plan/heap_plan.hpp"
#include "tagma/plan/site_kind.hpp"

namespace tagma::plan {

/// The devices of this process that the scopes of a graph name, and the node that each is there for.
class heap_site {
 public:
  /// Throws InvalidArgument for what cannot be placed.
  /// @param soft as `tagma::soft_placement`
  /// @param others devices that are preferred to CPUs; nullptr: there are CPUs alone
  /// @param homes of each node the device of this process where it is already, or nothing; empty: none is anywhere
  heap_site(const ir::graph_view& g, bool soft, const site_kind* others = nullptr,
            array_view<const device_spec> homes = {}) {
    if (g.requests.empty() && others == nullptr) {
      devices_.allocate(1);
      devices_[0].name = ir::local_device("CPU", 0);
      return;
    }
    const device_text listed[] = {device_text(others == nullptr ? "" : others->type), ir::local_device_types[0]};
    const array_view<const device_text> types(listed + (others == nullptr ? 1 : 0), others == nullptr ? 1 : 2);
    heap_array<device_spec> asked(g.requests.size() + homes.size());
    for (std::size_t i = 0; i < asked.size(); ++i)
      asked[i] = i < g.requests.size() ? g.requests[i] : homes[i - g.requests.size()];
    const auto names = ir::detail::name_local_devices<heap_room>(asked, types);
    fixed_array<device_entry, heap_room> entries;
    entries.allocate(names.count);
    devices_.allocate(names.count);
    for (std::size_t i = 0; i < names.count; ++i)
      entries[i] = {names.names[i], names.names[i].type == listed[1] ? memory_kind::host : memory_kind::own};
    heap_array<std::uint32_t> kernels(others == nullptr ? 0 : g.nodes.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
      kernels[i] = ir::is_for_device(g, static_cast<ir::node_id>(i), others->has_kernel) ? 3 : 2;
    fixed_array<ir::need, heap_room> needs;
    needs.allocate(g.nodes.size());
    for (ir::need& n : needs) n = ir::need::value;
    const ir::device_set set{entries, types,
                             [](const ir::op_info&, dtype, std::string_view type) { return type == "CPU"; },
                             ir::local_task, kernels};
    const ir::assigned_devices assigned(homes);
    placed_ = ir::place<heap_room>(g, needs, set, soft, assigned.names());
    if (placed_.failure.problem != ir::place_problem::none)
      fail(ir::code_of(placed_.failure.problem), {ir::to_string(placed_.failure, g, set)});
    list_devices(g, entries, placed_.devices(), devices_);
    if (others != nullptr && others->begins_loop != nullptr && is_accelerated()) {
      begins_loop_.allocate(g.nodes.size());
      for (ir::node_id i = 0; i < g.size(); ++i) begins_loop_[i] = is_on_other(i) && others->begins_loop(g.info(i));
    }
  }

  /// True if a node is on a device that is no CPU.
  [[nodiscard]] bool is_accelerated() const {
    for (ir::node_id i = 0; static_cast<std::size_t>(i) < placed_.devices().size(); ++i)
      if (is_on_other(i)) return true;
    return false;
  }
  [[nodiscard]] plan_site view() const { return {devices_, placed_.devices(), placed_.reasons(), begins_loop_}; }

 private:
  [[nodiscard]] bool is_on_other(ir::node_id i) const {
    const std::int16_t d = placed_.devices()[i];
    return d >= 0 && devices_[d].memory != memory_kind::host;
  }

  fixed_array<plan_device, heap_room> devices_;
  ir::placement<heap_room> placed_;
  heap_array<bool> begins_loop_;
};

}  // namespace tagma::plan
