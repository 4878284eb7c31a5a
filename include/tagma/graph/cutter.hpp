// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a graph is cut: the parts while they are written, and what leads from one to another.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/graph/cut_graph.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/graph/pass/versions.hpp"

namespace tagma::ir {

namespace detail {

/// One part while it is written.
struct open_part {
  std::vector<node> nodes;
  std::vector<node_id> edges, roots;
  std::vector<attribute> attributes;
  std::vector<device_spec> requests;
  std::vector<loop_info> loops;
  std::vector<back_edge> back_edges;
  std::vector<std::int16_t> loop_of;
  std::vector<std::int32_t> numbers, outputs, values;
  std::vector<std::int16_t> loop_at;  ///< of each loop of the whole graph, which one it is here; -1
  std::map<node_id, node_id> at;      ///< where nodes of the whole graph are here

  [[nodiscard]] graph_view view() const {
    return {nodes,      edges,
            attributes, roots,
            requests,   loops,
            back_edges, loops.empty() ? array_view<const std::int16_t>{} : array_view<const std::int16_t>(loop_of),
            numbers};
  }
  /// Adds a node that reads, waits for and has these.
  node_id add(node n, const std::vector<node_id>& in, const std::vector<node_id>& after, attribute_list given,
              std::int32_t number, std::int16_t loop) {
    n.first_edge = static_cast<std::int32_t>(edges.size());
    n.inputs = static_cast<std::int16_t>(in.size());
    n.controls = static_cast<std::int16_t>(after.size());
    n.colocated = 0;
    n.first_attribute = static_cast<std::int32_t>(attributes.size());
    n.attribute_count = static_cast<std::int16_t>(given.size());
    edges.insert(edges.end(), in.begin(), in.end());
    edges.insert(edges.end(), after.begin(), after.end());
    attributes.insert(attributes.end(), given.begin(), given.end());
    nodes.push_back(n);
    numbers.push_back(number);
    loop_of.push_back(loop);
    return static_cast<node_id>(nodes.size()) - 1;
  }
  std::int16_t request(const device_spec& asked) {
    if (asked.empty()) return 0;
    if (requests.empty()) requests.resize(2);
    for (std::size_t i = 2; i < requests.size(); ++i)
      if (requests[i] == asked) return static_cast<std::int16_t>(i);
    requests.push_back(asked);
    return static_cast<std::int16_t>(requests.size() - 1);
  }
  std::int32_t value(std::int32_t number) {
    if (number < 0) return -1;
    values.push_back(number);
    return static_cast<std::int32_t>(values.size() - 1);
  }
};

/// Cuts one graph.
class cutter {
 public:
  cutter(const graph_view& g, const cut_site& site)
      : g_(g),
        site_(site),
        task_(site.task.begin(), site.task.end()),
        device_(site.device.begin(), site.device.end()),
        parts_(static_cast<std::size_t>(site.tasks)) {
    fixed_array<need, heap_room> needs;
    needs.allocate(g.nodes.size());
    for (need& n : needs) n = need::value;
    versions_ = find_versions<heap_room>(g, needs);
    for (open_part& p : parts_) p.loop_at.assign(g.loops.size(), -1);
  }

  cut_graph run() {
    if (!g_.loops.empty()) settle_heads();
    for (node_id i = 0; i < g_.size(); ++i) settle(i);
    for (node_id i = 0; i < g_.size(); ++i)
      if (!g_.info(i).is_number()) place(i);
    for (const back_edge& e : g_.back_edges) {
      open_part& p = parts_[task_of(e.carried)];
      p.back_edges.push_back({p.at.at(e.carried), bring(e.next, p_of(e.carried), no_node)});
    }
    for (std::size_t r = 0; r < g_.roots.size(); ++r) {
      const node_id root = g_.roots[r];
      open_part& p = parts_[task_of(root)];
      p.roots.push_back(bring(root, p_of(root), no_node));
      p.outputs.push_back(static_cast<std::int32_t>(r));
    }
    cut_graph result;
    for (const open_part& p : parts_) result.parts.push_back({heap_graph(p.view()), p.outputs, p.values});
    result.edges = std::move(edges_);
    result.task = std::move(task_);
    return result;
  }

 private:
  [[nodiscard]] std::size_t task_of(node_id i) const { return static_cast<std::size_t>(task_[i_of(i)]); }
  [[nodiscard]] std::int16_t p_of(node_id i) const { return task_[i_of(i)]; }
  [[nodiscard]] static std::size_t i_of(node_id i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] TAGMA_COLD std::string text_of(node_id i) const {
    return g_[i].name.empty() ? sentence({g_.info(i).name, " #", i}) : std::string(g_[i].name);
  }

  /// Moves a node to the task of another one, on whose device it is then.
  void move(node_id i, node_id with) {
    if (p_of(i) == p_of(with)) return;
    task_[i_of(i)] = p_of(with);
    if (!device_.empty()) device_[i_of(i)] = device_[i_of(with)];
  }
  /// Moves a node to a task, which finds a device for it.
  void move_to(std::int16_t task, node_id i) {
    if (p_of(i) != task && !device_.empty()) device_[i_of(i)] = {};
    task_[i_of(i)] = task;
  }
  /// The head of the loop around all others that a node is in.
  [[nodiscard]] node_id outermost_head(node_id i) const {
    std::int16_t l = g_.loop_of[i];
    while (g_.loops[l].parent >= 0) l = g_.loops[l].parent;
    return g_.loops[l].head;
  }
  /// True for what cannot go elsewhere without something that is outside of its loop.
  [[nodiscard]] bool is_bound(node_id i) const {
    bool bound = g_.info(i).is(op_kind::update);
    for (const node_id in : g_.inputs(i)) bound = bound || g_.info(in).is(op_kind::resource);
    return bound;
  }
  /// Moves heads, which ask for nothing, to where most steps of their loops are, or what is bound there.
  void settle_heads() {
    std::map<node_id, std::map<std::int16_t, std::int64_t>> steps;
    for (node_id i = 0; i < g_.size(); ++i)
      if (g_.loop_of[i] >= 0 && g_.info(i).has_step())
        steps[outermost_head(i)][p_of(i)] += is_bound(i) ? std::int64_t{1} << 32 : 1;
    for (const auto& [head, by_task] : steps)
      move_to(std::max_element(by_task.begin(), by_task.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; })
                  ->first,
              head);
  }
  /// Moves what has to be with another node to its task.
  void settle(node_id i) {
    const op_info& op = g_.info(i);
    const node_id variable = versions_.base_of(i);
    if (!g_.loops.empty() && g_.loop_of[i] >= 0) {
      const std::int16_t there = p_of(outermost_head(i));
      move_to(there, i);
      if (g_[i].op == &rules<loop_carried>) move_to(there, g_.inputs(i)[1]);  // the copy that it begins with
    } else if (op.is(op_kind::output) || op.is(op_kind::iterations)) {
      move(i, g_.inputs(i)[0]);
    } else if (op.is(op_kind::view) && variable != no_node) {
      move(i, variable);
    }
    if (p_of(i) < 0 || p_of(i) >= site_.tasks)
      fail(status_code::invalid_argument, {"cut: ", text_of(i), " is on task ", p_of(i), " of ", site_.tasks});
    if (op.is(op_kind::update) && variable != no_node && p_of(i) != p_of(variable))
      fail(status_code::invalid_argument, {"cut: ", text_of(i), " is not with its variable ", text_of(variable)});
    for (const node_id in : g_.inputs(i))
      if (g_.info(in).is(op_kind::resource) && p_of(in) != p_of(i))
        fail(status_code::invalid_argument, {"cut: ", text_of(i), " is not with what it uses, ", text_of(in)});
  }

  /// The last update of a variable that node `i` is ordered behind in the whole graph.
  [[nodiscard]] node_id version_read(node_id variable, node_id i) const {
    node_id last = no_node;
    for (node_id u = versions_.first(variable); u != no_node && u < i; u = versions_.next(u))
      if (is_behind<heap_room>(g_, u, i)) last = u;
    return last;
  }

  /// Adds a node to its part, behind what it reads and waits for.
  void place(node_id i) {
    const std::int16_t here = p_of(i);
    open_part& part = parts_[task_of(i)];
    std::vector<node_id> in, after, updates;
    for (const node_id from : g_.inputs(i)) {
      const node_id variable = versions_.base_of(from);
      const node_id version = variable == no_node ? no_node : version_read(variable, i);
      in.push_back(bring(from, here, version));
      // Here the order may have led by way of another task.
      if (version != no_node && p_of(variable) == here && version != from) updates.push_back(part.at.at(version));
    }
    std::map<std::int16_t, std::vector<node_id>> elsewhere;
    for (const node_id other : g_.controls(i)) {
      if (p_of(other) == here && !g_.info(other).is_number())
        after.push_back(part.at.at(other));
      else if (has_step(other))
        elsewhere[p_of(other)].push_back(other);
    }
    for (const auto& [there, others] : elsewhere) after.push_back(wait_for(others, there, here));
    for (const node_id u : updates)
      if (std::find(after.begin(), after.end(), u) == after.end()) after.push_back(u);
    part.at[i] = add(i, here, in, after);
  }
  /// True if there is something to wait for.
  [[nodiscard]] bool has_step(node_id i) const {
    const op_info& op = g_.info(i);
    return !op.is_number() && !op.is(op_kind::variable) && !op.is(op_kind::placeholder) && !op.is(op_kind::resource);
  }
  node_id add(node_id i, std::int16_t here, const std::vector<node_id>& in, const std::vector<node_id>& after) {
    open_part& part = parts_[static_cast<std::size_t>(here)];
    node n = g_[i];
    n.value = part.value(n.value);
    // A number is made anew on each task, wherever it was to be on its own.
    n.request = device_.empty() || p_of(i) != here ? std::int16_t{0} : part.request(device_[i_of(i)]);
    const node_id self = part.add(n, in, after, g_.attributes(i), i, loop_here(i, part));
    for (std::size_t l = 0; l < g_.loops.size(); ++l)
      if (g_.loops[l].head == i) part.loops[i_of(loop_here(static_cast<std::int16_t>(l), part))].head = self;
    return self;
  }
  /// The loop that a node is in, in its part.
  [[nodiscard]] std::int16_t loop_here(node_id i, open_part& part) {
    return g_.loops.empty() ? std::int16_t{-1} : loop_here(g_.loop_of[i], part);
  }
  [[nodiscard]] std::int16_t loop_here(std::int16_t loop, open_part& part) {
    if (loop < 0) return -1;
    const auto l = static_cast<std::size_t>(loop);
    if (part.loop_at[l] < 0) {
      const std::int16_t parent = loop_here(g_.loops[l].parent, part);
      part.loop_at[l] = static_cast<std::int16_t>(part.loops.size());
      part.loops.push_back({no_node, parent, g_.loops[l].rank});
    }
    return part.loop_at[l];
  }

  /// The node of a part that has the value of node `i`.
  /// @param version the update behind which a variable is read; `no_node`: none
  node_id bring(node_id i, std::int16_t here, node_id version) {
    open_part& part = parts_[static_cast<std::size_t>(here)];
    const auto known = part.at.find(i);
    if (g_.info(i).is_number()) {
      if (known != part.at.end()) return known->second;
      return part.at[i] = add(i, here, {}, {});
    }
    if (p_of(i) == here) return known->second;
    const auto [place, is_new] = brought_.try_emplace({i, version, here}, no_node);
    if (!is_new) return place->second;
    const tensor_spec& spec = g_[i].spec;
    if (spec.type == dtype::none)
      fail(status_code::invalid_argument,
           {"cut: ", text_of(i), " is read by another task, and is no tensor that could be handed over"});
    open_part& there = parts_[task_of(i)];
    std::vector<node_id> after;
    if (version != no_node && version != i) after.push_back(there.at.at(version));
    return place->second = exchange(i, there.at.at(i), after, p_of(i), here, spec);
  }
  /// The node of a part that is done when others are, all of one other task.
  node_id wait_for(const std::vector<node_id>& others, std::int16_t there, std::int16_t here) {
    const auto [place, is_new] = waited_for_.try_emplace({others, here}, no_node);
    if (!is_new) return place->second;
    open_part& part = parts_[static_cast<std::size_t>(there)];
    std::vector<node_id> after;
    for (const node_id i : others) after.push_back(part.at.at(i));
    node nothing;
    nothing.op = &rules<constant_op>;
    nothing.spec = {dtype::boolean, {}};
    const attribute zero[] = {as_attribute(0.0)};
    const node_id token = part.add(nothing, {}, {}, zero, -1, -1);
    return place->second = exchange(no_node, token, after, there, here, nothing.spec);
  }
  /// Adds the pair of nodes of an edge. Returns the one that receives.
  node_id exchange(node_id whole, node_id value, const std::vector<node_id>& after, std::int16_t from, std::int16_t to,
                   const tensor_spec& spec) {
    open_part &there = parts_[static_cast<std::size_t>(from)], &here = parts_[static_cast<std::size_t>(to)];
    const auto edge = static_cast<attribute>(edges_.size());
    const bool open = !spec.dims.is_static();
    node sender, receiver;
    sender.op = &rules<op::send>;
    sender.spec = {dtype::int64, {}};
    const std::int16_t beside = there.nodes[i_of(value)].request;
    if (beside > 1 && there.requests[i_of(beside)].type == local_device_types[0]) sender.request = beside;
    const attribute sent[] = {edge, to};
    there.roots.push_back(there.add(sender, {value}, after, sent, -1, -1));
    there.outputs.push_back(-1);
    edges_.push_back({whole, from, to, static_cast<std::int32_t>(there.roots.size()) - 1});
    receiver.op = open ? &rules<op::receive_open> : &rules<op::receive>;
    receiver.spec = spec;
    attribute words[2 + queue_component_words] = {edge, from};
    write_component(words + 2, spec);
    return here.add(receiver, {}, {}, words, -1, -1);
  }

  const graph_view& g_;
  const cut_site& site_;
  std::vector<std::int16_t> task_;
  std::vector<device_spec> device_;
  std::vector<open_part> parts_;
  std::vector<cut_edge> edges_;
  variable_versions<heap_room> versions_;
  std::map<std::tuple<node_id, node_id, std::int16_t>, node_id> brought_;
  std::map<std::pair<std::vector<node_id>, std::int16_t>, node_id> waited_for_;
};

}  // namespace detail

}  // namespace tagma::ir
