// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Placement: which device runs each node. The order of what decides is TensorFlow's: where earlier runs put the node,
/// what its scopes ask for, and else the best device that has a kernel for the node and for all that must be with it.
/// An update and the slots that it writes are with their variable.

#include "tagma/graph/pass/versions.hpp"
#include "tagma/place/device_entry.hpp"
#include "tagma/place/reason.hpp"

namespace tagma::ir {

/// What can go wrong.
enum class place_problem : std::uint8_t {
  none,
  no_devices,            ///< the set of devices is empty
  no_kernel,             ///< no device has a kernel for the operation
  no_such_device,        ///< what is asked for matches no device
  no_kernel_there,       ///< it matches devices without a kernel
  group_elsewhere,       ///< a node that this one is bound to is asked for where this one cannot run
  requests_conflict,     ///< two nodes that are bound together are asked for in two places
  no_common_device,      ///< two nodes that are bound together run on no device together
  malformed_assignment,  ///< what earlier runs tell is no device name
  unknown_assignment,    ///< it names no device, or several
  assigned_no_kernel,    ///< it names a device without a kernel
};

/// A problem and what it is about.
struct place_failure {
  place_problem problem = place_problem::none;
  node_id node = no_node;
  node_id other = no_node;      ///< the node that it is bound to
  device_spec asked{};          ///< of the node or of its group
  device_spec other_asked{};    ///< of the other node
  std::string_view conflict{};  ///< "incompatible types"
};

/// Devices to choose from, and what they can run.
struct device_set {
  array_view<const device_entry> devices;
  array_view<const device_text> types;  ///< every type that has kernels, the one to prefer first; at most 32
  bool (*has_kernel)(const op_info& op, dtype type, std::string_view device_type) = nullptr;
  device_spec home{};  ///< job, replica and task of the caller, preferred among equals
  /// Which types have a kernel for each node: bit t is `types[t]`. Where it is empty, `has_kernel` is asked.
  array_view<const std::uint32_t> kernels{};
};

/// What is known of a node while nodes are placed, and of the root of a group for all that must be with it.
struct place_group {
  node_id leader = no_node;
  node_id asker = no_node;  ///< the first node of the group that is asked for
  int size = 0;
  std::uint32_t kernels = 0;
  device_spec request{};
  std::int16_t readers = -1;  ///< the device of all readers of a node; -1 if it has none, -2 if there are several
};

/// Where `place` writes and what it works in: arrays of the caller, an element for each node.
struct place_room {
  array_view<std::int16_t> device;  ///< written: position in the set, -1 where nothing is placed
  array_view<place_reason> reason;  ///< written
  array_view<place_group> groups;
};

template <std::size_t N>
struct placement {
  fixed_array<std::int16_t, N> device{};  ///< position in the set, -1 where nothing is placed
  fixed_array<place_reason, N> reason{};
  place_failure failure;

  [[nodiscard]] constexpr array_view<const std::int16_t> devices() const { return device; }
  [[nodiscard]] constexpr array_view<const place_reason> reasons() const { return reason; }
};

namespace detail {

/// Nodes that must be together: a forest whose roots hold what is known of their group.
class placer {
 public:
  constexpr placer(const graph_view& g, array_view<const need> needs, const device_set& set, bool soft,
                   array_view<const std::string_view> assigned, const place_room& room)
      : g_(g),
        needs_(needs),
        set_(set),
        soft_(soft),
        assigned_(assigned),
        device_(room.device.data()),
        reason_(room.reason.data()),
        groups_(room.groups.data()) {}

  constexpr place_failure run() {
    for (node_id i = 0; i < g_.size(); ++i) {
      device_[i] = -1;
      note(i, place_reason::not_placed);
    }
    if (set_.devices.empty()) fail({place_problem::no_devices});
    for (const device_entry& d : set_.devices) present_ |= bit_of(d.name);
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i)) begin(i);
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i))
        for (const node_id with : g_.colocated(i))
          if (placed(with) && good()) join(with, i, false);
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i) && g_.info(i).is(op_kind::update)) join_state(i);
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i) && g_.info(i).is(op_kind::resource)) join_users(i);
    if (!g_.loops.empty()) join_loops();
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i) && !is_generator(i)) choose(i);
    find_readers();
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i) && is_generator(i)) choose(i);
    return failure_;
  }

 private:
  [[nodiscard]] constexpr bool placed(node_id i) const { return wants_value(needs_[i]); }
  [[nodiscard]] constexpr bool good() const { return failure_.problem == place_problem::none; }
  constexpr void fail(const place_failure& f) { failure_ = f; }
  constexpr void note(node_id i, place_reason r) { reason_[i] = r; }

  [[nodiscard]] constexpr std::uint32_t bit_of(const device_spec& d) const {
    for (std::size_t t = 0; t < set_.types.size(); ++t)
      if (set_.types[t] == d.type) return std::uint32_t{1} << t;
    return 0;
  }
  [[nodiscard]] constexpr std::uint32_t kernels_of(node_id i) const {
    if (!set_.kernels.empty()) return set_.kernels[i];
    std::uint32_t mask = 0;
    for (std::size_t t = 0; t < set_.types.size(); ++t)
      if (set_.has_kernel(g_.info(i), g_[i].spec.type, set_.types[t].view())) mask |= std::uint32_t{1} << t;
    return mask;
  }

  constexpr void begin(node_id i) {
    groups_[i].leader = i;
    groups_[i].size = 1;
    groups_[i].request = g_.request(i);
    groups_[i].kernels = kernels_of(i) & present_;
    groups_[i].asker = g_[i].request > 1 ? i : no_node;
    if (!assigned_.empty() && !assigned_[i].empty()) return begin_assigned(i);
    if (groups_[i].kernels == 0) fail({place_problem::no_kernel, i, no_node, groups_[i].request});
  }
  constexpr void begin_assigned(node_id i) {
    const parsed_device name = parse_device(assigned_[i]);
    if (!name) return fail({place_problem::malformed_assignment, i, no_node, {}, {}, assigned_[i]});
    int matches = 0;
    for (std::size_t d = 0; d < set_.devices.size(); ++d)
      if (covers(*name, set_.devices[d].name)) ++matches, device_[i] = static_cast<std::int16_t>(d);
    if (matches != 1) return fail({place_problem::unknown_assignment, i, no_node, *name, {}, assigned_[i]});
    const device_spec& device = set_.devices[device_[i]].name;
    if ((groups_[i].kernels & bit_of(device)) == 0)
      return fail({place_problem::assigned_no_kernel, i, no_node, device});
    groups_[i].request = device;
    groups_[i].kernels = bit_of(device);
    groups_[i].asker = i;
    note(i, place_reason::assigned);
  }

  [[nodiscard]] constexpr node_id leader(node_id i) {
    while (groups_[i].leader != i) i = groups_[i].leader = groups_[groups_[i].leader].leader;
    return i;
  }
  /// Puts node `b` with node `a`. Requests that differ are a problem, unless `b` is an update of the variable `a`: then
  /// the variable stays where it is asked for.
  constexpr void join(node_id a, node_id b, bool updates) {
    const node_id first = leader(a), second = leader(b);
    if (first == second) return;
    const merged_device both = merge(groups_[first].request, groups_[second].request, soft_ && !updates);
    if (!both && !updates)
      return fail(
          {place_problem::requests_conflict, a, b, groups_[first].request, groups_[second].request, both.conflict});
    if ((groups_[first].kernels & groups_[second].kernels) == 0)
      return fail({place_problem::no_common_device, a, b, groups_[first].request, groups_[second].request});
    if (both) groups_[first].request = both.spec;
    if (groups_[first].asker == no_node) groups_[first].asker = groups_[second].asker;
    groups_[first].kernels &= groups_[second].kernels;
    groups_[first].size += groups_[second].size;
    groups_[second].leader = first;
  }
  constexpr void join_state(node_id update) {
    node_id variable = g_.inputs(update)[0];
    while (g_.info(variable).shares_bytes()) variable = g_.inputs(variable)[0];
    join(variable, update, true);
    for (const node_id in : g_.inputs(update))
      if (good() && placed(in) && g_.info(in).is(op_kind::variable) && !g_[in].suffix.empty()) join(variable, in, true);
  }

  /// What a loop carries is in one place, what it gathers where that is made, and what a node is by turns together.
  constexpr void join_loops() {
    for (const back_edge& e : g_.back_edges) {
      if (good() && placed(e.carried)) join(e.carried, g_.inputs(e.carried)[1], false);
      if (good() && placed(e.carried)) join(e.carried, e.next, false);
    }
    for (node_id i = 0; i < g_.size() && good(); ++i)
      if (placed(i) && g_.info(i).is(op_kind::iterations))
        join(g_.inputs(i)[0], i, false);
      else if (placed(i) && g_[i].op == &rules<loop_member>)
        for (const node_id member : g_.inputs(i).subspan(1))
          if (good()) join(member, i, false);
  }
  /// What uses a resource is where that is.
  constexpr void join_users(node_id resource) {
    for (node_id i = resource + 1; i < g_.size() && good(); ++i)
      if (placed(i))
        for (const node_id in : g_.inputs(i))
          if (in == resource && good()) join(resource, i, false);
  }

  /// True if the first device is to be preferred: by type, then those of the caller's task, then by name, where numbers
  /// count as numbers.
  [[nodiscard]] constexpr bool better(const device_spec& a, const device_spec& b) const {
    const std::uint32_t type_a = bit_of(a), type_b = bit_of(b);
    if (type_a != type_b) return type_a < type_b;
    const bool home_a = covers(set_.home, a), home_b = covers(set_.home, b);
    if (home_a != home_b) return home_a;
    if (a.job != b.job) return a.job.view() < b.job.view();
    if (a.replica != b.replica) return a.replica < b.replica;
    if (a.task != b.task) return a.task < b.task;
    return a.id < b.id;
  }
  struct choice {
    std::int16_t device = -1;
    int candidates = 0;
    bool matches = false;  ///< some device is what is asked for, kernels or not
  };
  [[nodiscard]] constexpr choice best(const device_spec& asked, std::uint32_t kernels) const {
    choice c;
    for (std::size_t d = 0; d < set_.devices.size(); ++d) {
      const device_spec& device = set_.devices[d].name;
      if (!covers(asked, device)) continue;
      c.matches = true;
      if ((bit_of(device) & kernels) == 0) continue;
      ++c.candidates;
      if (c.device < 0 || better(device, set_.devices[c.device].name)) c.device = static_cast<std::int16_t>(d);
    }
    return c;
  }

  constexpr void choose(node_id i) {
    if (reason_[i] == place_reason::assigned) return;
    const node_id root = leader(i);
    const device_spec group = groups_[root].request, own = g_.request(i);
    choice c = best(group, groups_[root].kernels);
    bool softened = false;
    if (c.candidates == 0 && soft_) {
      device_spec open = group;
      open.type = {};
      open.id = -1;
      const choice other = best(open, groups_[root].kernels);
      if (other.candidates > 0) c = other, softened = true;
    }
    if (c.candidates == 0) return explain_failure(i, root, c.matches);
    const std::int16_t near = groups_[root].size == 1 && !softened ? neighbour(i) : std::int16_t{-1};
    const bool follows = near >= 0 && covers(group, set_.devices[near].name) &&
                         (bit_of(set_.devices[near].name) & groups_[root].kernels) != 0 && c.candidates > 1;
    device_[i] = follows ? near : c.device;
    const device_spec& device = set_.devices[device_[i]].name;
    note(i, softened                              ? place_reason::softened
            : follows && inputs_decide(i)         ? place_reason::with_input
            : follows                             ? place_reason::with_readers
            : !own.empty() && covers(own, device) ? place_reason::asked
            : groups_[root].asker != no_node      ? place_reason::with_group
            : c.candidates == 1                   ? place_reason::only_choice
                                                  : place_reason::first_choice);
  }
  constexpr void explain_failure(node_id i, node_id root, bool matches) {
    const device_spec own = g_.request(i);
    if (!matches)
      fail({place_problem::no_such_device, groups_[root].asker == no_node ? i : groups_[root].asker, no_node,
            groups_[root].request});
    else if (!own.empty() && best(own, kernels_of(i)).candidates == 0)
      fail({place_problem::no_kernel_there, i, no_node, own});
    else
      fail({place_problem::group_elsewhere, i, groups_[root].asker, groups_[root].request});
  }

  /// A node without inputs, of which a copy could be saved.
  [[nodiscard]] constexpr bool is_generator(node_id i) const {
    const op_info& info = g_.info(i);
    return g_[i].inputs == 0 && !info.is(op_kind::variable) && !info.is(op_kind::resource) &&
           !info.is(op_kind::control);
  }
  [[nodiscard]] constexpr bool inputs_decide(node_id i) const {
    if (g_[i].inputs == 0) return false;
    if (g_.info(i).is(op_kind::view) || g_.info(i).is(op_kind::output)) return true;
    for (int k = 0; k < g_[i].inputs; ++k)
      if (!g_.info(i).ignores_elements(k)) return false;
    return true;
  }
  /// The device of what a node would be best beside, or -1.
  [[nodiscard]] constexpr std::int16_t neighbour(node_id i) const {
    if (is_generator(i)) return groups_[i].readers >= 0 ? groups_[i].readers : std::int16_t{-1};
    return inputs_decide(i) ? device_[g_.inputs(i)[0]] : std::int16_t{-1};
  }
  /// The device of all readers of each node; -1 if it has none, -2 if there are several.
  constexpr void find_readers() {
    for (node_id i = 0; i < g_.size(); ++i) groups_[i].readers = -1;
    for (node_id i = 0; i < g_.size(); ++i)
      if (placed(i))
        for (const node_id in : g_.inputs(i))
          groups_[in].readers =
              groups_[in].readers == -1 || groups_[in].readers == device_[i] ? device_[i] : std::int16_t{-2};
  }

  const graph_view& g_;
  array_view<const need> needs_;
  const device_set& set_;
  bool soft_;
  array_view<const std::string_view> assigned_;
  std::int16_t* device_;
  place_reason* reason_;
  place_group* groups_;
  place_failure failure_;
  std::uint32_t present_ = 0;  // types that the set has
};

}  // namespace detail

/// Places the nodes of which a run needs the value, on the devices of a set. The compiler can run it, and so can a
/// program that learns its devices when it starts.
/// @param needs of each node
/// @param soft where what is asked for cannot be had, its type and number are dropped; job, replica and task hold
/// @param assigned for each node the name of the device where earlier runs had it, or nothing
/// @param room written; has an element for each node
[[nodiscard]] constexpr place_failure place(const graph_view& g, array_view<const need> needs,
                                            const device_set& devices, bool soft,
                                            array_view<const std::string_view> assigned, const place_room& room) {
  return detail::placer(g, needs, devices, soft, assigned, room).run();
}

/// The same, in arrays of its own.
template <std::size_t N>
[[nodiscard]] constexpr placement<N> place(const graph_view& g, const fixed_array<need, N>& needs,
                                           const device_set& devices, bool soft = false,
                                           array_view<const std::string_view> assigned = {}) {
  placement<N> p;
  fixed_array<place_group, N> groups{};
  if constexpr (N == heap_room) make_room(g.size(), p.device, p.reason, groups);
  p.failure = place(g, needs, devices, soft, assigned, {p.device, p.reason, groups});
  return p;
}

}  // namespace tagma::ir
