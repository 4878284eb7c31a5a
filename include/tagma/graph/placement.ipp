// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of placement.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/graph/placement.hpp"

namespace tagma::ir::detail {

TAGMA_DECL std::string label(const graph_view& g, node_id i) {
  const node& n = g[i];
  if (!n.name.empty()) return std::string(n.name).append(n.suffix);
  return std::string(n.op->info->name).append(" #").append(std::to_string(i));
}

TAGMA_DECL bool has_kernel(const graph_view& g, const device_set& set, node_id i, std::size_t t) {
  if (!set.kernels.empty()) return ((set.kernels[i] >> t) & 1) != 0;
  return set.has_kernel(g.info(i), g[i].spec.type, set.types[t].view());
}

TAGMA_DECL std::string kernels_text(const graph_view& g, const device_set& set, node_id i) {
  std::string text;
  for (std::size_t t = 0; t < set.types.size(); ++t)
    if (has_kernel(g, set, i, t))
      text.append(text.empty() ? "device='" : "; device='").append(set.types[t].view()).append("'");
  return text.empty() ? "<no registered kernels>" : text;
}

TAGMA_DECL std::string devices_text(const device_set& set) {
  std::string text = "[";
  for (const device_entry& d : set.devices) text.append(text.size() == 1 ? " " : ", ").append(to_string(d.name));
  return text + " ]";
}

TAGMA_DECL std::string group_text(const graph_view& g, const device_set& set, const place_failure& f) {
  std::string text;
  for (const node_id i : {f.node, f.other}) {
    if (i == no_node) continue;
    text.append(text.empty() ? "" : "; ").append(g.info(i).name).append(":");
    for (std::size_t t = 0; t < set.types.size(); ++t)
      if (has_kernel(g, set, i, t)) text.append(" ").append(set.types[t].view());
  }
  return text;
}

}  // namespace tagma::ir::detail

namespace tagma::ir {

TAGMA_DECL std::string to_string(const place_failure& f, const graph_view& g, const device_set& set) {
  if (f.problem == place_problem::none) return {};
  if (f.problem == place_problem::no_devices) return "No devices are registered";
  const std::string node = "'" + detail::label(g, f.node) + "'", asked = "'" + to_string(f.asked) + "'";
  const std::string other = f.other == no_node ? std::string() : "'" + detail::label(g, f.other) + "'";
  const std::string start = "Cannot assign a device for operation " + node + ": ";
  const std::string there = ". Available devices: " + detail::devices_text(set);
  switch (f.problem) {
    case place_problem::no_kernel:
      return start + "No OpKernel was registered to support Op '" + std::string(g.info(f.node).name) + "' of " +
             std::string(tagma::to_string(g[f.node].spec.type)) + ". Registered devices: " + detail::devices_text(set) +
             ", registered kernels: " + detail::kernels_text(g, set, f.node);
    case place_problem::no_such_device:
      return start + "Operation was explicitly assigned to " + to_string(f.asked) + " but available devices are " +
             detail::devices_text(set) + ". Make sure the device specification refers to a valid device.";
    case place_problem::no_kernel_there:
      return start + "Could not satisfy explicit device specification " + asked + " because no supported kernel for " +
             (f.asked.type.empty() ? std::string("its") : std::string(f.asked.type.view())) +
             " devices is available. Registered kernels: " + detail::kernels_text(g, set, f.node) + there;
    case place_problem::group_elsewhere:
      return start + "the node was colocated with a group of nodes that required incompatible device " + asked +
             ". Kernels: " + detail::group_text(g, set, f) + there;
    case place_problem::requests_conflict:
      return "Cannot colocate nodes " + node + " and " + other + ": cannot merge devices with " +
             std::string(f.conflict) + ": " + asked + " and '" + to_string(f.other_asked) + "'" + there;
    case place_problem::no_common_device:
      return "Cannot colocate nodes " + node + " and " + other +
             " because no device type supports both of those nodes and the other nodes colocated with them. Kernels: " +
             detail::group_text(g, set, f) + there;
    case place_problem::malformed_assignment:
      return "Malformed assigned device '" + std::string(f.conflict) + "' of " + node;
    case place_problem::unknown_assignment:
      return "Assigned device '" + std::string(f.conflict) + "' of " + node + " does not match any device" + there;
    default:
      return "Assigned device " + asked + " of " + node + " does not have registered OpKernel support for " +
             std::string(g.info(f.node).name) + there;
  }
}

TAGMA_DECL assigned_devices::assigned_devices(array_view<const device_spec> homes)
    : texts_(homes.size()), names_(homes.size()) {
  for (std::size_t i = 0; i < homes.size(); ++i) {
    if (homes[i].empty()) continue;
    texts_[i] = tagma::to_string(homes[i]);
    names_[i] = texts_[i];
  }
}

TAGMA_DECL heap_placement place_on_heap(const graph_view& g, array_view<const need> needs, const device_set& devices,
                                        bool soft, array_view<const std::string_view> assigned) {
  const std::size_t count = g.nodes.size();
  heap_placement p(count);
  const heap_array<place_group> groups(count);
  p.failure = place(g, needs, devices, soft, assigned,
                    {{p.device.data(), count}, {p.reason.data(), count}, {groups.data(), count}});
  return p;
}

}  // namespace tagma::ir

namespace tagma::ir::detail {

TAGMA_DECL std::string placed_text(array_view<const std::int16_t> device, const graph_view& g, const device_set& set) {
  std::string text;
  for (node_id i = 0; i < g.size(); ++i)
    if (device[i] >= 0)
      text.append(label(g, i))
          .append(": (")
          .append(g.info(i).name)
          .append("): ")
          .append(to_string(set.devices[device[i]].name))
          .append("\n");
  return text;
}

}  // namespace tagma::ir::detail

namespace tagma::ir {

TAGMA_DECL std::string to_string(const heap_placement& p, const graph_view& g, const device_set& set) {
  return detail::placed_text({p.device.data(), p.device.size()}, g, set);
}

}  // namespace tagma::ir
