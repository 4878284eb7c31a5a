// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Element-wise fusion: a chain or tree of element-wise nodes becomes one loop. A node joins its consumer if all its
/// readers are in one group, so a group has one result and no node is computed twice. Where a device has kernels that
/// go on with a loop over their result, one such node joins the loop that reads it.

#include "tagma/graph/pass/versions.hpp"

namespace tagma::ir {

/// Why an element-wise node stands alone or is the result of its group.
enum class fusion_reason : std::uint8_t {
  not_elementwise,
  fused,                 ///< part of the loop of its reader
  fetched,               ///< its value is asked for
  read_by_other_kernel,  ///< a reader is no element-wise node
  read_by_many,          ///< its readers are in different loops
  other_shape,           ///< its reader broadcasts it
  group_full,            ///< the loop has reached its largest size
  other_device,          ///< its reader runs on another device
  other_loop,            ///< its reader is done more often, or less
  ordered,               ///< a control dependency or an update holds it in place
};

[[nodiscard]] constexpr std::string_view to_string(fusion_reason r) {
  constexpr const char* names[] = {"",
                                   "fused into its reader",
                                   "fetched",
                                   "read by a kernel of its own",
                                   "read by more than one loop",
                                   "broadcast by its reader",
                                   "the loop is full",
                                   "its reader runs on another device",
                                   "its reader is in another loop",
                                   "held by a control dependency or an update"};
  return names[static_cast<std::size_t>(r)];
}

/// The largest number of operations in one loop.
inline constexpr int max_group = 16;
/// The largest number of tensors that one loop reads.
inline constexpr int max_group_loads = 12;

template <std::size_t N>
struct fusion {
  fixed_array<node_id, N> group{};  ///< the node that stands for the loop of node i; i itself if it is not fused
  fixed_array<fusion_reason, N> reason{};
  fixed_array<std::int8_t, N> size{};  ///< of the group that node i stands for
};

/// Groups element-wise nodes. Linear in edges: nodes are visited from the last to the first, so all readers of a node
/// have their group when its turn comes.
/// @param device where each node runs, or nothing if there is only one device
/// @param begins for each node, whether its kernel can go on with the loop over its result; or nothing
/// @param careful a loop waits for all that its members wait for, and who reads a variable holds its next update up. So
/// where something that the graph does not show leads from that update to the loop, both would wait for ever: other
/// reads and updates, or other parts of a graph that was cut. Careful is a loop that reads a variable by a member only
/// if the update is behind its result in any case.
template <std::size_t N>
[[nodiscard]] constexpr fusion<N> fuse(const graph_view& g, const fixed_array<need, N>& needs,
                                       array_view<const node_id> fetches, array_view<const std::int16_t> device = {},
                                       array_view<const bool> begins = {}, bool careful = false) {
  fusion<N> f;
  if constexpr (N == heap_room) make_room(g.size(), f.group, f.reason, f.size);
  node_id* const group = f.group.data();
  std::int8_t* const size = f.size.data();
  const node* const nodes = g.nodes.data();
  // Of each node: the group of all readers so far, or no_node, and why it can be in no group.
  fixed_array<node_id, N> reader_of{};
  fixed_array<fusion_reason, N> obstacle_of{};
  fixed_array<std::int8_t, N> loads_of{};
  fixed_array<bool, N> begun{};  // of each group: a kernel goes before its loop
  if constexpr (N == heap_room) make_room(g.size(), reader_of, obstacle_of, loads_of, begun);
  node_id* const reader = reader_of.data();
  fusion_reason* const obstacle = obstacle_of.data();
  std::int8_t* const loads = loads_of.data();
  for (node_id i = 0; i < g.size(); ++i) reader[i] = no_node, group[i] = i, size[i] = 1;
  for (const node_id i : fetches) obstacle[i] = fusion_reason::fetched;
  for (const back_edge& e : g.back_edges) obstacle[e.next] = fusion_reason::read_by_other_kernel;

  // A node reads a variable before some update; its reader may have to run behind that update.
  const auto versions = find_versions<N>(g, needs);
  const auto parted_by_update = [&](node_id i, node_id r) {
    for (int k = 0; k < nodes[i].inputs; ++k) {
      if (!versions.reads_updated(g, i, k)) continue;
      const node_id variable = versions.base_of(g.inputs(i)[k]);
      const node_id update = versions.update_after(g, variable, i);
      if (update != versions.update_after(g, variable, r)) return true;
      if (careful && update != no_node && !is_behind<N>(g, r, update)) return true;
    }
    return false;
  };
  constexpr int none = static_cast<int>(fusion_reason::not_elementwise);

  for (node_id i = g.size(); i-- > 0;) {
    if (!wants_value(needs.values[i])) continue;
    const node& n = nodes[i];
    const op_info& info = *n.op->info;
    const bool elementwise = info.is(op_kind::elementwise);
    const bool kernel = !elementwise && !begins.empty() && begins[i] && info.is(op_kind::compute);
    if (elementwise || kernel) {
      const node_id r = reader[i];
      // In one expression: clang takes as long to read an assignment of an enumeration as ten calls.
      const fusion_reason why =
          static_cast<int>(obstacle[i]) != none                           ? obstacle[i]
          : n.controls > 0                                                ? fusion_reason::ordered
          : r == no_node                                                  ? fusion_reason::not_elementwise
          : !(n.spec.dims == nodes[r].spec.dims)                          ? fusion_reason::other_shape
          : kernel && (begun[r] || n.spec.type != nodes[r].spec.type)     ? fusion_reason::read_by_other_kernel
          : size[r] >= max_group || loads[r] + n.inputs > max_group_loads ? fusion_reason::group_full
          : !device.empty() && device[i] != device[r]                     ? fusion_reason::other_device
          : !g.share_iterations(i, r)                                     ? fusion_reason::other_loop
          : parted_by_update(i, r)                                        ? fusion_reason::ordered
                                                                          : fusion_reason::fused;
      f.reason[i] = why;
      if (static_cast<int>(why) == static_cast<int>(fusion_reason::fused)) {
        group[i] = r;
        if (kernel)
          begun[r] = true;
        else
          size[r] = static_cast<std::int8_t>(size[r] + 1);
        loads[r] = static_cast<std::int8_t>(loads[r] + n.inputs - 1);
      } else if (elementwise) {
        loads[i] = static_cast<std::int8_t>(n.inputs);
      }
    }
    const node_id mine = group[i];
    const node_id* const in = g.edges.data() + n.first_edge;
    for (int k = 0; k < n.inputs + n.controls; ++k) {
      const bool control = k >= n.inputs;
      if (!control && (static_cast<int>(obstacle[in[k]]) != none || info.ignores_elements(k))) continue;
      node_id& known = reader[in[k]];
      if (!control && elementwise && known == no_node) known = mine;
      if (control || !elementwise || known != mine)
        obstacle[in[k]] = control       ? fusion_reason::ordered
                          : elementwise ? fusion_reason::read_by_many
                                        : fusion_reason::read_by_other_kernel;
    }
  }
  return f;
}

}  // namespace tagma::ir
