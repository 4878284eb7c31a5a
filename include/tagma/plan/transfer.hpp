// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Copies between devices. A plan has one for each tensor and each device that reads it elsewhere, so that no tensor
/// travels twice in a run; a variable travels again after an update. Between devices of two kinds it travels by way of
/// the client's host, which is a device that reads it then.

#include "tagma/plan/compile.hpp"

namespace tagma::plan {

/// The operation of a copy. No graph has it.
struct transfer {
  static constexpr const char* name = "transfer";
  static constexpr op_kind kind = op_kind::compute;
  static constexpr const char* infer(ir::infer_args& args) {
    args.out = args.in[0];
    return nullptr;
  }
};

namespace detail {

/// Writes the steps of a plan once more, with those that bring a tensor to another device before the first that reads
/// it there.
/// @tparam D number of devices
/// @tparam T room for transfers
template <std::size_t D, std::size_t T, std::size_t N, std::size_t E, std::size_t A, std::size_t F>
class transfer_pass {
  using result = raw_plan<joined_room(N, T), joined_room(E, T), A, F>;

 public:
  constexpr transfer_pass(const raw_plan<N, E, A, F>& tables, array_view<const plan_device> devices,
                          const graph_view& g)
      : from_(tables), devices_(devices), g_(g), device_count_(static_cast<std::int32_t>(devices.size())) {
    if constexpr (N == heap_room) {
      // A copy for each operand and each fetch: nodes of such graphs are on hosts.
      const std::size_t copies = from_.operands.size() + from_.fetches.size(), nodes = from_.nodes.size();
      to_.allocate({nodes + copies, from_.operands.size() + copies, from_.attributes.size(), from_.fetches.size()});
      make_room(nodes * devices.size(), copies_);
      make_room(nodes, version_, moved_);
      make_room(from_.fetches.size(), copied_);
    }
  }

  constexpr result run() {
    copy_tables();
    for (std::int32_t s = 0; s < from_.sizes.steps; ++s) {
      const plan_step& step = from_.steps[s];
      const std::int16_t device = from_.nodes[step.node].device;
      if (!g_.loops.empty()) bring_before_loops(s);
      bring_operands(step);
      fetch_before(s);
      copy_step(s, device);
      if (from_.nodes[step.node].op->is(op_kind::update)) ++version_[owner(step.node)];
    }
    fetch_before(from_.sizes.steps);
    for (std::size_t f = 0; f < to_.fetches.size(); ++f)
      if (copied_[f]) to_.fetch_steps[f] = to_.sizes.steps;
    for (std::int32_t i = 0; i < from_.sizes.nodes; ++i)
      if (from_.nodes[i].step >= 0) to_.nodes[i].step = moved_[from_.nodes[i].step];
    return to_;
  }

 private:
  struct copy {
    node_id node = 0;  ///< one more than the node of the copy; 0 if there is none
    std::int32_t version = 0;
  };

  constexpr void copy_tables() {
    for (std::int32_t i = 0; i < from_.sizes.nodes; ++i) to_.nodes[i] = from_.nodes[i];
    for (std::int32_t i = 0; i < from_.sizes.inputs; ++i) to_.inputs[i] = from_.inputs[i];
    for (std::int32_t i = 0; i < from_.sizes.attributes; ++i) to_.attributes[i] = from_.attributes[i];
    for (std::int32_t i = 0; i < from_.sizes.operations; ++i) to_.operations[i] = from_.operations[i];
    to_.sizes = from_.sizes;
    to_.sizes.steps = to_.sizes.operands = 0;
    to_.feeds = from_.feeds;
    to_.writes_variables = from_.writes_variables;
    to_.fetches = from_.fetches;
  }

  [[nodiscard]] constexpr bool reads(const plan_step& step, int k) const {
    return step.fused || !from_.nodes[step.node].op->ignores_elements(k);
  }
  /// The node whose bytes a node shares.
  [[nodiscard]] constexpr node_id owner(node_id i) const {
    while (from_.nodes[i].op->shares_bytes()) i = from_.inputs[from_.nodes[i].first_input];
    return i;
  }
  /// True if a device computes in the memory of the client's host, where feeds are and fetched values are taken.
  [[nodiscard]] constexpr bool on_host(std::int16_t device) const {
    const plan_device &d = devices_[device], &client = devices_[0];
    return computes_on_host({d.name, d.memory}, {client.name, client.memory});
  }

  /// The node in which `device` reads node `i`, or `no_node` if it must be brought there.
  [[nodiscard]] constexpr node_id readable(node_id i, std::int16_t device) const {
    const node_id bytes = owner(i);
    const storage_kind kind = from_.nodes[bytes].storage;
    // A scalar is made on every device that reads it.
    if (kind == storage_kind::literal || kind == storage_kind::constant) return i;
    if (kind == storage_kind::feed ? on_host(device) : from_.nodes[i].device == device) return i;
    const copy& c = copies_[i * device_count_ + device];
    return c.node > 0 && c.version == version_[bytes] ? c.node - 1 : ir::no_node;
  }

  /// True if no copy leads from where node `i` is to another device: both are no hosts, and of two kinds.
  [[nodiscard]] constexpr bool is_apart(node_id i, std::int16_t device) const {
    const plan_device &here = devices_[from_.nodes[i].device], &there = devices_[device];
    return here.memory == memory_kind::own && there.memory == memory_kind::own && here.name.type != there.name.type &&
           from_.nodes[owner(i)].storage != storage_kind::feed;
  }

  constexpr void bring(node_id i, std::int16_t device) {
    if (readable(i, device) != ir::no_node) return;
    node_id from = i;
    if (is_apart(i, device)) {
      bring(i, 0);
      from = readable(i, 0);
    }
    const std::int32_t s = to_.sizes.steps++;
    const node_id self = to_.sizes.nodes++;
    plan_node& n = to_.nodes[self];
    n = from_.nodes[i];
    n.op = &ir::info<transfer>;
    n.first_input = to_.sizes.inputs;
    n.inputs = 1;
    n.attribute_count = n.controls = 0;
    n.put(storage_kind::none, n.slot);
    n.value = -1;
    n.step = s;
    n.device = device;
    to_.inputs[to_.sizes.inputs++] = from;
    to_.steps[s] = {self, to_.sizes.operands, 1, false};
    to_.first_operation[s] = 0;
    to_.operands[to_.sizes.operands++] = from;
    copies_[i * device_count_ + device] = {self + 1, version_[owner(i)]};
  }

  constexpr void bring_operands(const plan_step& step) {
    for (int k = 0; k < step.operands; ++k)
      if (reads(step, k)) bring(from_.operands[step.first_operand + k], from_.nodes[step.node].device);
  }
  [[nodiscard]] constexpr bool is_inside(node_id i, int loop) const {
    int l = g_.loop_of[from_.nodes[i].source];
    while (l >= 0 && l != loop) l = g_.loops[l].parent;
    return l == loop;
  }
  /// What the body of a loop reads from around it is brought before the first iteration.
  constexpr void bring_before_loops(std::int32_t s) {
    for (int l = g_.loop_of[from_.nodes[from_.steps[s].node].source]; l >= 0; l = g_.loops[l].parent) {
      if (s > 0 && is_inside(from_.steps[s - 1].node, l)) continue;
      for (std::int32_t t = s; t < from_.sizes.steps && is_inside(from_.steps[t].node, l); ++t)
        for (int k = 0; k < from_.steps[t].operands; ++k)
          if (const node_id i = from_.operands[from_.steps[t].first_operand + k];
              reads(from_.steps[t], k) && !is_inside(i, l))
            bring(i, from_.nodes[from_.steps[t].node].device);
    }
  }

  constexpr void copy_step(std::int32_t s, std::int16_t device) {
    const std::int32_t now = to_.sizes.steps++;
    plan_step step = from_.steps[s];
    const std::int32_t first = step.first_operand;
    step.first_operand = to_.sizes.operands;
    for (std::int32_t k = first; k < first + step.operands + step.outputs; ++k) {
      const node_id in = from_.operands[k];
      const node_id here = k < first + step.operands && reads(step, k - first) ? readable(in, device) : in;
      to_.loads[to_.sizes.operands] = from_.loads[k];
      to_.loads[to_.sizes.operands].node = here;
      to_.operands[to_.sizes.operands++] = here;
    }
    to_.steps[now] = step;
    to_.first_operation[now] = from_.first_operation[s];
    to_.operation_count[now] = from_.operation_count[s];
    moved_[s] = now;
  }

  /// Values that are fetched must be where the host can take them; they are taken before step `s` overwrites them. A
  /// copy on the host is overwritten by no step, and taken when the run ends.
  constexpr void fetch_before(std::int32_t s) {
    for (std::size_t f = 0; f < to_.fetches.size(); ++f) {
      const node_id i = from_.fetches[f];
      if (from_.fetch_steps[f] != s || on_host(from_.nodes[i].device) || from_.nodes[i].spec.type == dtype::none)
        continue;
      bring(i, 0);
      to_.fetches[f] = readable(i, 0);
      copied_[f] = true;
    }
    for (std::size_t f = 0; f < to_.fetches.size(); ++f)
      if (from_.fetch_steps[f] == s) to_.fetch_steps[f] = to_.sizes.steps;
  }

  const raw_plan<N, E, A, F>& from_;
  array_view<const plan_device> devices_;
  const graph_view& g_;
  std::int32_t device_count_;
  result to_;
  fixed_array<copy, N == heap_room ? N : N * D> copies_{};  // of each node, on each device
  fixed_array<std::int32_t, N> version_{};                  // updates so far, of each variable
  fixed_array<std::int32_t, N> moved_{};                    // of each step
  fixed_array<bool, F> copied_{};                           // of each fetch: it is a copy on the host
};

}  // namespace detail

/// Adds the transfers of a plan whose nodes are on several devices. Feeds are read where they are by every device of
/// the host; numbers written in place are on every device.
/// @tparam D number of devices
/// @tparam T room for transfers
template <std::size_t D, std::size_t T, std::size_t N, std::size_t E, std::size_t A, std::size_t F>
[[nodiscard]] constexpr auto add_transfers(const raw_plan<N, E, A, F>& tables, array_view<const plan_device> devices,
                                           const graph_view& g = {}) {
  return detail::transfer_pass<D, T, N, E, A, F>(tables, devices, g).run();
}

}  // namespace tagma::plan
