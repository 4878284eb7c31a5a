// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the nodes of a graph run that is data: on the devices of this process, by the placer that the compiler runs.

#include "tagma/base/error.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/graph/placement.hpp"
#include "tagma/plan/devices.hpp"
#include "tagma/plan/heap_plan.hpp"

namespace tagma::plan {

/// The CPUs of this process that the scopes of a graph name, and the node that each is there for.
class heap_site {
 public:
  /// Throws InvalidArgument for what cannot be placed.
  /// @param soft as `tagma::soft_placement`
  heap_site(const ir::graph_view& g, bool soft) {
    if (g.requests.empty()) {
      devices_.allocate(1);
      devices_[0].name = ir::local_device("CPU", 0);
      return;
    }
    const auto names = ir::detail::name_local_devices<heap_room>(g.requests, ir::local_device_types);
    fixed_array<device_entry, heap_room> entries;
    entries.allocate(names.count);
    devices_.allocate(names.count);
    for (std::size_t i = 0; i < names.count; ++i) entries[i] = {names.names[i], memory_kind::host};
    fixed_array<ir::need, heap_room> needs;
    needs.allocate(g.nodes.size());
    for (ir::need& n : needs) n = ir::need::value;
    const ir::device_set set{entries, ir::local_device_types,
                             [](const ir::op_info&, dtype, std::string_view type) { return type == "CPU"; },
                             ir::local_task};
    placed_ = ir::place<heap_room>(g, needs, set, soft);
    if (placed_.failure.problem != ir::place_problem::none)
      fail(ir::code_of(placed_.failure.problem), {ir::to_string(placed_.failure, g, set)});
    list_devices(g, entries, placed_.devices(), devices_);
  }

  [[nodiscard]] plan_site view() const { return {devices_, placed_.devices(), placed_.reasons()}; }

 private:
  fixed_array<plan_device, heap_room> devices_;
  ir::placement<heap_room> placed_;
};

}  // namespace tagma::plan
