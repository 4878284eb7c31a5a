// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Placements as text: what went wrong, in TensorFlow's words, and where each node is.

#include <string>

#include "tagma/graph/pass/place.hpp"

namespace tagma::ir {

namespace detail {

/// "w", "w/adam_m", or of a node without a name, "matmul #5".
[[nodiscard]] inline std::string label(const graph_view& g, node_id i) {
  const node& n = g[i];
  if (!n.name.empty()) return std::string(n.name).append(n.suffix);
  return std::string(n.op->info->name).append(" #").append(std::to_string(i));
}

[[nodiscard]] inline std::string kernels_text(const graph_view& g, const device_set& set, node_id i) {
  std::string text;
  for (const device_text& type : set.types)
    if (set.has_kernel(g.info(i), g[i].spec.type, type.view()))
      text.append(text.empty() ? "device='" : "; device='").append(type.view()).append("'");
  return text.empty() ? "<no registered kernels>" : text;
}

[[nodiscard]] inline std::string devices_text(const device_set& set) {
  std::string text = "[";
  for (const device_spec& d : set.devices) text.append(text.size() == 1 ? " " : ", ").append(to_string(d));
  return text + " ]";
}

/// "matmul: CPU GPU" for a node and the node it is bound to.
[[nodiscard]] inline std::string group_text(const graph_view& g, const device_set& set, const place_failure& f) {
  std::string text;
  for (const node_id i : {f.node, f.other}) {
    if (i == no_node) continue;
    text.append(text.empty() ? "" : "; ").append(g.info(i).name).append(":");
    for (const device_text& type : set.types)
      if (set.has_kernel(g.info(i), g[i].spec.type, type.view())) text.append(" ").append(type.view());
  }
  return text;
}

}  // namespace detail

/// The canonical code of a failure.
[[nodiscard]] constexpr status_code code_of(place_problem problem) {
  switch (problem) {
    case place_problem::none:
      return status_code::ok;
    case place_problem::no_devices:
      return status_code::failed_precondition;
    case place_problem::malformed_assignment:
    case place_problem::unknown_assignment:
    case place_problem::assigned_no_kernel:
      return status_code::internal;
    default:
      return status_code::invalid_argument;
  }
}

/// A failure as a sentence; empty if there is none.
[[nodiscard]] inline std::string to_string(const place_failure& f, const graph_view& g, const device_set& set) {
  if (f.problem == place_problem::none) return {};
  if (f.problem == place_problem::no_devices) return "No devices are registered";
  const std::string node = "'" + detail::label(g, f.node) + "'", asked = "'" + to_string(f.asked) + "'";
  const std::string other = f.other == no_node ? std::string() : "'" + detail::label(g, f.other) + "'";
  const std::string start = "Cannot assign a device for operation " + node + ": ";
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
             " devices is available. Registered kernels: " + detail::kernels_text(g, set, f.node);
    case place_problem::group_elsewhere:
      return start + "the node was colocated with a group of nodes that required incompatible device " + asked +
             ". Kernels: " + detail::group_text(g, set, f);
    case place_problem::requests_conflict:
      return "Cannot colocate nodes " + node + " and " + other + ": cannot merge devices with " +
             std::string(f.conflict) + ": " + asked + " and '" + to_string(f.other_asked) + "'";
    case place_problem::no_common_device:
      return "Cannot colocate nodes " + node + " and " + other +
             " because no device type supports both of those nodes and the other nodes colocated with them. Kernels: " +
             detail::group_text(g, set, f);
    case place_problem::malformed_assignment:
      return "Malformed assigned device '" + std::string(f.conflict) + "' of " + node;
    case place_problem::unknown_assignment:
      return "Assigned device '" + std::string(f.conflict) + "' of " + node + " does not match any device";
    default:
      return "Assigned device " + asked + " of " + node + " does not have registered OpKernel support for " +
             std::string(g.info(f.node).name);
  }
}

/// One line for each node that is placed: "w: (variable): /job:localhost/replica:0/task:0/device:CPU:0".
template <std::size_t N>
[[nodiscard]] std::string to_string(const placement<N>& p, const graph_view& g, const device_set& set) {
  std::string text;
  for (node_id i = 0; i < g.size(); ++i)
    if (p.device[i] >= 0)
      text.append(detail::label(g, i))
          .append(": (")
          .append(g.info(i).name)
          .append("): ")
          .append(to_string(set.devices[p.device[i]]))
          .append("\n");
  return text;
}

}  // namespace tagma::ir
