// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices that a program without a cluster knows of, and where its nodes are placed on them. Whether the machine
/// has all of them is for the session to find out.

#include <utility>

#include "tagma/graph/pass/place.hpp"

namespace tagma::ir {

inline constexpr device_spec local_task{device_text("localhost"), 0, 0, {}, -1};
inline constexpr device_text local_device_types[] = {device_text("CPU")};

/// The most kinds of devices besides CPUs that the programs of a file can have.
inline constexpr int most_kinds = 4;

/// A kind of device that the programs of a file use besides CPUs: none, unless the file includes a header that provides
/// it, before its first session. Such a header specialises this for all graphs, with a number of its own below
/// `most_kinds`; where several kinds have a kernel, the one with the lowest number is preferred. It has
/// `type`, such as "GPU"; `kernels`, an element for each node, true where the device has a kernel;
/// `begins_loop(info)`, whether its kernel of an operation can go on with a loop over the result;
/// `entries<Plan>()`, its kernels for the steps of a plan; `start(options)`, which gives a `runtime::accelerator`.
template <class Graph, int Kind>
struct accelerator_of {
  static constexpr bool exists = false;
};

/// True if the programs of a file know of devices besides CPUs.
template <class Graph>
inline constexpr bool knows_accelerators = accelerator_of<Graph, 0>::exists || accelerator_of<Graph, 1>::exists ||
                                           accelerator_of<Graph, 2>::exists || accelerator_of<Graph, 3>::exists;
static_assert(most_kinds == 4);

/// True for nodes that only a host computes: what makes or takes strings, or a resource, finds extents without a bound,
/// or leads to another process.
[[nodiscard]] constexpr bool needs_host(const graph_view& g, node_id i) {
  const auto is_of_host = [&](node_id n) { return g[n].spec.type == dtype::string || g.info(n).is(op_kind::resource); };
  bool needs = is_of_host(i) || g.info(i).on_host || (g.info(i).late && g.info(i).bound == nullptr);
  for (const node_id in : g.inputs(i)) needs = needs || is_of_host(in);
  return needs;
}

/// True if a device that is no CPU may have a node. What only says where bytes are needs no kernel.
/// @param has_kernel asked for the operation of a node that has a step
template <class F>
[[nodiscard]] constexpr bool is_for_device(const graph_view& g, node_id i, const F& has_kernel) {
  return !needs_host(g, i) && (!g.info(i).has_step() || has_kernel(g.info(i)));
}

/// The kind of a type of device, or -1 for CPUs and what nobody knows.
template <class Graph, int Kind = 0>
[[nodiscard]] constexpr int kind_of(std::string_view type) {
  if constexpr (Kind == most_kinds) {
    return -1;
  } else {
    if constexpr (accelerator_of<Graph, Kind>::exists)
      if (type == accelerator_of<Graph, Kind>::type) return Kind;
    return kind_of<Graph, Kind + 1>(type);
  }
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
  static constexpr fixed_array<device_entry, 1> entries{{{local_device("CPU", 0), memory_kind::host}}};

  [[nodiscard]] constexpr array_view<const std::int16_t> devices() const { return {}; }
  [[nodiscard]] constexpr array_view<const place_reason> reasons() const { return {}; }
  [[nodiscard]] constexpr array_view<const device_entry> set() const { return entries; }
};

/// The placement of a program on the devices of a list. The first one is the client's, where feeds and fetches are.
template <std::size_t Nodes, std::size_t Devices>
struct listed_placement : placement<Nodes> {
  fixed_array<device_entry, Devices> entries{};

  [[nodiscard]] constexpr array_view<const device_entry> set() const { return entries; }
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

/// What kinds of device the nodes of a graph may be on, the one to prefer first, and their kernels.
template <class Graph, bool Accelerated = knows_accelerators<Graph>>
struct local_types {
  static constexpr const auto& types = local_device_types;
  /// Whether a CPU has a kernel is asked later, where kernels are picked, for all operations at once.
  static constexpr array_view<const std::uint32_t> kernels{};
};
template <class Graph>
struct local_types<Graph, true> {
  template <int... Kind>
  static constexpr auto list_types(std::integer_sequence<int, Kind...>) {
    fixed_array<device_text, 1 + (0 + ... + accelerator_of<Graph, Kind>::exists)> list{};
    std::size_t count = 0;
    const auto add = [&]<int K>(std::integral_constant<int, K>) {
      if constexpr (accelerator_of<Graph, K>::exists) list[count++] = device_text(accelerator_of<Graph, K>::type);
    };
    (add(std::integral_constant<int, Kind>{}), ...);
    list[count] = local_device_types[0];
    return list;
  }
  static constexpr auto types = list_types(std::make_integer_sequence<int, most_kinds>{});

  template <int... Kind>
  static constexpr auto list_kernels(std::integer_sequence<int, Kind...>) {
    fixed_array<std::uint32_t, Graph::nodes> result{};
    int type = 0;
    const auto add = [&]<int K>(std::integral_constant<int, K>) {
      if constexpr (accelerator_of<Graph, K>::exists) {
        for (std::size_t i = 0; i < Graph::nodes; ++i)
          if (accelerator_of<Graph, K>::kernels[i]) result[i] |= std::uint32_t{1} << type;
        ++type;
      }
    };
    (add(std::integral_constant<int, Kind>{}), ...);
    for (std::size_t i = 0; i < Graph::nodes; ++i) result[i] |= std::uint32_t{1} << type;
    return result;
  }
  static constexpr auto masks = list_kernels(std::make_integer_sequence<int, most_kinds>{});
  static constexpr array_view<const std::uint32_t> kernels = masks;
};

/// The first device of each type, and every local device that a scope names completely; CPUs first, then by number,
/// whatever order they are named in.
/// @tparam Most room for names
template <std::size_t Most>
[[nodiscard]] constexpr device_names<Most> name_local_devices(array_view<const device_spec> requests,
                                                              array_view<const device_text> types) {
  device_names<Most> list;
  if constexpr (Most == heap_room) make_room(requests.size() + types.size(), list.names);
  // The type that is preferred is the last that is listed.
  for (std::size_t t = types.size(); t-- > 0;) {
    const std::size_t first = list.count;
    list.add(local_device(types[t].view(), 0));
    for (const device_spec& asked : requests) {
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

/// The devices of this process that a program knows of; the memory of those that are no CPUs is their own.
template <class Graph>
[[nodiscard]] constexpr auto list_local_devices() {
  constexpr auto list =
      name_local_devices<Graph::requests + most_kinds + 1>(Graph::flat.requests, local_types<Graph>::types);
  fixed_array<device_entry, list.count> entries{};
  for (std::size_t i = 0; i < list.count; ++i)
    entries[i] = {list.names[i], list.names[i].type == local_device_types[0] ? memory_kind::host : memory_kind::own};
  return entries;
}

}  // namespace detail

/// Where the nodes of a program run, on the devices of a list, of which the first is the client's. All of its runs
/// agree, since the whole graph is placed at once.
/// @param home job, replica and task of the client
template <class Graph, std::size_t Devices>
[[nodiscard]] constexpr auto place_graph(const fixed_array<device_entry, Devices>& devices, const device_spec& home) {
  using local = detail::local_types<Graph>;
  listed_placement<Graph::nodes, Devices> result;
  result.entries = devices;
  const device_set set{result.entries, local::types,
                       [](const op_info&, dtype, std::string_view type) { return type == "CPU"; }, home,
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
}

/// The same on the devices of this process; programs without device scopes do not ask the placer.
template <class Graph>
[[nodiscard]] constexpr auto place_locally() {
  if constexpr (Graph::requests > 0 || knows_accelerators<Graph>) {
    constexpr auto devices = detail::list_local_devices<Graph>();
    return place_graph<Graph>(devices, local_task);
  } else {
    return single_placement{};
  }
}

}  // namespace tagma::ir
