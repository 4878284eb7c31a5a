// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices that a program without a cluster knows of, and where its nodes are placed on them. Whether the machine
/// has all of them is for the session to find out.

#include "tagma/graph/pass/place.hpp"

namespace tagma::ir {

inline constexpr device_spec local_task{device_text("localhost"), 0, 0, {}, -1};
inline constexpr device_text local_device_types[] = {device_text("CPU")};

/// The kind of device that the programs of a file use besides CPUs: none, unless the file includes a header that
/// provides one, before its first session. Such a header specialises this for all graphs:
/// `type`, such as "GPU"; `kernels`, an element for each node, true where the device has a kernel;
/// `begins_loop(info)`, whether its kernel of an operation can go on with a loop over the result;
/// `entries<Plan>()`, its kernels for the steps of a plan; `start(options)`, which gives a `runtime::accelerator`.
template <class Graph>
struct accelerator_of {
  static constexpr bool exists = false;
};

/// True for nodes that only a host computes: what makes or takes strings, or a resource.
[[nodiscard]] constexpr bool needs_host(const graph_view& g, node_id i) {
  const auto is_of_host = [&](node_id n) { return g[n].spec.type == dtype::string || g.info(n).is(op_kind::resource); };
  bool needs = is_of_host(i);
  for (const node_id in : g.inputs(i)) needs = needs || is_of_host(in);
  return needs;
}

/// The complete name of a device of this process.
[[nodiscard]] constexpr device_spec local_device(std::string_view type, std::int32_t id) {
  device_spec name = local_task;
  name.type = device_text(type);
  name.id = id;
  return name;
}

/// The placement of a program without device scopes: everything is on the only device.
struct single_placement {
  place_failure failure;
  static constexpr fixed_array<device_spec, 1> names{{local_device("CPU", 0)}};

  [[nodiscard]] constexpr array_view<const std::int16_t> devices() const { return {}; }
  [[nodiscard]] constexpr array_view<const place_reason> reasons() const { return {}; }
  [[nodiscard]] constexpr array_view<const device_spec> set() const { return names; }
};

/// The placement of a program on the devices that it names. The first one is the client's, where feeds and fetches are.
template <std::size_t Nodes, std::size_t Devices>
struct local_placement : placement<Nodes> {
  fixed_array<device_spec, Devices> names{};

  [[nodiscard]] constexpr array_view<const device_spec> set() const { return names; }
};

namespace detail {

template <std::size_t Most>
struct device_names {
  fixed_array<device_spec, Most> names{};
  std::size_t count = 0;

  constexpr void add(const device_spec& name) {
    for (std::size_t i = 0; i < count; ++i)
      if (names[i] == name) return;
    names[count++] = name;
  }
};

/// The first device of each type, and every local device that a scope names completely; CPUs first, then by number,
/// whatever order they are named in.
template <class Graph>
[[nodiscard]] constexpr auto name_local_devices(array_view<const device_text> types) {
  device_names<Graph::requests + 2> list;
  // The type that is preferred is the last that is listed.
  for (std::size_t t = types.size(); t-- > 0;) {
    const std::size_t first = list.count;
    list.add(local_device(types[t].view(), 0));
    for (const device_spec& asked : Graph::flat.requests) {
      if (asked.type != types[t] || asked.id < 0) continue;
      const merged_device name = merge(local_task, asked, false);
      if (name) list.add(name.spec);
    }
    for (std::size_t i = first + 2; i < list.count; ++i)
      for (std::size_t k = i; k > first + 1 && list.names[k].id < list.names[k - 1].id; --k) {
        const device_spec other = list.names[k];
        list.names[k] = list.names[k - 1];
        list.names[k - 1] = other;
      }
  }
  return list;
}

/// What kinds of device the nodes of a graph may be on, the one to prefer first, and their kernels.
template <class Graph, bool Accelerated = accelerator_of<Graph>::exists>
struct local_types {
  static constexpr const auto& types = local_device_types;
  /// Whether a CPU has a kernel is asked later, where kernels are picked, for all operations at once.
  static constexpr array_view<const std::uint32_t> kernels{};
};
template <class Graph>
struct local_types<Graph, true> {
  static constexpr device_text types[] = {device_text(accelerator_of<Graph>::type), local_device_types[0]};
  static constexpr auto masks = [] {
    fixed_array<std::uint32_t, Graph::nodes> result{};
    for (std::size_t i = 0; i < Graph::nodes; ++i) result[i] = accelerator_of<Graph>::kernels[i] ? 3 : 2;
    return result;
  }();
  static constexpr array_view<const std::uint32_t> kernels = masks;
};

}  // namespace detail

/// Where the nodes of a program run. All of its runs agree, since the whole graph is placed at once; programs without
/// device scopes do not ask the placer.
template <class Graph>
[[nodiscard]] constexpr auto place_locally() {
  if constexpr (Graph::requests > 0 || accelerator_of<Graph>::exists) {
    using local = detail::local_types<Graph>;
    constexpr auto list = detail::name_local_devices<Graph>(local::types);
    local_placement<Graph::nodes, list.count> result;
    for (std::size_t i = 0; i < list.count; ++i) result.names[i] = list.names[i];
    const device_set set{result.names, local::types,
                         [](const op_info&, dtype, std::string_view type) { return type == "CPU"; }, local_task,
                         local::kernels};
    fixed_array<need, Graph::nodes> needs{};
    for (std::size_t i = 0; i < Graph::nodes; ++i) needs[i] = need::value;
    static_cast<placement<Graph::nodes>&>(result) = place<Graph::nodes>(Graph::view, needs, set, Graph::soft);
    // A type without any kernel has none for the node in question either.
    place_failure& f = result.failure;
    bool has_kernels = f.asked.type.empty();
    for (const device_text& type : local::types) has_kernels = has_kernels || f.asked.type == type;
    if (f.problem == place_problem::no_such_device && !has_kernels) f.problem = place_problem::no_kernel_there;
    // Runs are refused, by a sentence about the failure; until then the tables of plans need devices.
    if (f.problem != place_problem::none)
      for (std::size_t i = 0; i < Graph::nodes; ++i)
        if (result.device[i] < 0) {
          result.device[i] = 0;
          result.reason[i] = place_reason::refused;
        }
    return result;
  } else {
    return single_placement{};
  }
}

}  // namespace tagma::ir
