// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run may be fed with. A placeholder must be fed; any other tensor that an operation computes may be, and then
/// the operation is left out, with everything that only it needs.

#include "tagma/expr/placeholder.hpp"
#include "tagma/plan/program.hpp"

namespace tagma {

struct run_limits;

/// What can be wrong with a feed: types whose names tell what it is about.
namespace diagnose {
template <class... Output>
struct second_output {};
template <class... Argument>
struct no_feed {};
template <class Spec>
struct not_in_program {};
template <class Operation, class Spec>
struct not_computed {};
template <class Operation, class Spec>
struct waited_for {};
template <class Spec>
struct fed_twice {};
template <class Tensor, class Value>
struct other_element_type {};
template <class Tensor, class Value>
struct no_elements {};
template <class Tensor, class Value>
struct number_for_a_tensor {};
}  // namespace diagnose

namespace detail {

template <class T>
concept tensor_like = requires(const T& t) {
  t.data();
  t.dims();
  t.span();
};
template <class T>
concept text_like = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept range_like = !tensor_like<T> && !text_like<T> && requires(const T& t) {
  *t.data();
  t.size();
};

/// The element type of a value that can be fed; void if there is none.
template <class T>
constexpr auto fed_element() {
  if constexpr (text_like<T>)
    return string_element{};
  else if constexpr (tensor_like<T> || range_like<T>)
    return std::remove_cvref_t<decltype(*std::declval<const T&>().data())>{};
  else if constexpr (scalar<T>)
    return T{};
}

/// What an error of a feed is about.
struct fed_node {
  std::string_view operation;
  std::string_view name;
  ir::node_id node = ir::no_node;
  shape dims;
};

/// Placeholders and variables of a graph, in its order.
template <class Graph>
struct graph_tables {
  /// False: the compiler knows the graph.
  static constexpr bool is_late = false;
  static constexpr std::size_t count(ir::op_kind kind) {
    std::size_t n = 0;
    for (const ir::node& node : Graph::flat.nodes) n += node.op->info->kind == kind;
    return n;
  }
  static constexpr std::size_t placeholders = count(ir::op_kind::placeholder);

  static constexpr auto make_variables() {
    fixed_array<plan::plan_variable, count(ir::op_kind::variable)> list{};
    std::size_t n = 0;
    for (int i = 0; i < Graph::view.size(); ++i) {
      const ir::node& node = Graph::view[i];
      if (!node.op->info->is(ir::op_kind::variable)) continue;
      const auto a = Graph::view.attributes(i);
      const auto where = placed_graph<Graph>::placed.devices();
      const std::int16_t device = where.empty() || where[i] < 0 ? std::int16_t{0} : where[i];
      list[n++] = {node.name, node.suffix, node.spec, a[0], a[1] != 0, device, ir::as_double(a[2]), node.value, i};
    }
    return list;
  }
  static constexpr auto variables = make_variables();

  /// Copies of the attributes of resources: a view of the graph's own would put the whole graph, and with it the rules
  /// of its operations, into the program.
  static constexpr std::size_t count_resource_attributes() {
    std::size_t n = 0;
    for (int i = 0; i < Graph::view.size(); ++i)
      if (Graph::view.info(i).is(ir::op_kind::resource)) n += Graph::view.attributes(i).size();
    return n;
  }
  static constexpr auto copy_resource_attributes() {
    fixed_array<ir::attribute, count_resource_attributes()> list{};
    std::size_t n = 0;
    for (int i = 0; i < Graph::view.size(); ++i)
      if (Graph::view.info(i).is(ir::op_kind::resource))
        for (const ir::attribute a : Graph::view.attributes(i)) list[n++] = a;
    return list;
  }
  static constexpr auto resource_attributes = copy_resource_attributes();

  static constexpr auto make_resources() {
    fixed_array<plan::plan_resource, count(ir::op_kind::resource)> list{};
    std::size_t n = 0, first = 0;
    for (int i = 0; i < Graph::view.size(); ++i) {
      const ir::node& node = Graph::view[i];
      if (!node.op->info->is(ir::op_kind::resource)) continue;
      const std::size_t attributes = Graph::view.attributes(i).size();
      list[n++] = {node.op->info->key, node.op->info->name, node.name,
                   ir::attribute_list(resource_attributes).subspan(first, attributes), i};
      first += attributes;
    }
    return list;
  }
  static constexpr auto resources = make_resources();

  /// The rank of a placeholder among all.
  static constexpr int placeholder_position(ir::node_id placeholder) {
    int n = 0;
    for (ir::node_id i = 0; i < placeholder; ++i) n += Graph::view.info(i).is(ir::op_kind::placeholder);
    return n;
  }
};

/// The nodes of a graph that a handle stands for, in no order: none if the graph does not have it, more than one if
/// device scopes ask for it in several places.
/// @param all which record became which node
/// @return how many
constexpr int find_nodes(const ir::graph_view& g, array_view<const ir::node_of_record> all, const ir::record& r,
                         array_view<ir::node_id> nodes) {
  int count = 0;
  const auto add = [&](ir::node_id id) {
    for (int i = 0; i < count; ++i)
      if (nodes[i] == id) return;
    nodes[count++] = id;
  };
  if (r.op->info->is(ir::op_kind::placeholder)) {
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g.info(i).is(ir::op_kind::placeholder) && g[i].name == r.name && g[i].spec == r.spec) add(i);
    return count;
  }
  for (const ir::node_of_record& n : all)
    if (n.what == &r) add(n.node);
  if (count == 0 && r.bare != nullptr && !r.is_renamed() && ir::is_single(*r.op->info))
    for (const ir::node_of_record& n : all)
      if (n.what == r.bare) add(n.node);
  return count;
}

template <class Graph, class Id>
struct nodes_of_handle {
  static constexpr int count = [] {
    fixed_array<ir::node_id, Graph::nodes> all{};
    return find_nodes(Graph::view, ir::nodes_of(Graph::built), *find_record<Id>(), all);
  }();
  static constexpr auto nodes = [] {
    fixed_array<ir::node_id, Graph::nodes> all{};
    fixed_array<ir::node_id, static_cast<std::size_t>(count)> some{};
    find_nodes(Graph::view, ir::nodes_of(Graph::built), *find_record<Id>(), all);
    for (int i = 0; i < count; ++i) some[i] = all[i];
    return some;
  }();
};

/// A graph in which `Fed` are placeholders.
template <class Graph, ir::node_id... Fed>
struct fed_graph : Graph {
  static constexpr auto flat = [] {
    auto copy = Graph::flat;
    for (const ir::node_id i : {Fed...}) {
      ir::node& n = copy.nodes[i];
      n.op = ir::rules_for<op::placeholder, Graph>;
      n.inputs = n.controls = n.colocated = n.attribute_count = 0;
      n.value = -1;
    }
    return copy;
  }();
  static constexpr ir::graph_view view{flat.nodes,    flat.edges, flat.attributes, flat.roots,
                                       flat.requests, flat.loops, flat.back_edges, flat.loop_of};
};
/// Nodes stay where they are, whatever is fed.
template <class Graph, ir::node_id... Fed>
struct placed_graph<fed_graph<Graph, Fed...>> : placed_graph<Graph> {};

/// What is wrong with an argument of a run that is neither feed nor limit.
template <class Argument>
constexpr auto no_feed() {
  if constexpr (std::is_same_v<Argument, refused_feed>)
    return diagnose::refused{};
  else if constexpr (expression<Argument>)
    return diagnose::second_output<Argument>{};
  else
    return diagnose::no_feed<Argument>{};
}

/// True for what may be fed instead of being computed.
[[nodiscard]] constexpr bool is_computed(const ir::op_info& info) {
  return info.is(ir::op_kind::view) || info.is(ir::op_kind::output) || info.is(ir::op_kind::iterations) ||
         (info.has_step() && !info.is(ir::op_kind::update));
}

/// What is wrong with a value as one for a tensor of type `Spec`.
template <class Spec, class Value>
constexpr auto fault_of_value() {
  using fed = decltype(fed_element<Value>());
  if constexpr (std::is_void_v<fed> || range_like<fed>)
    return diagnose::no_elements<Spec, Value>{};
  else if constexpr (!std::is_same_v<fed, typename Spec::element_type>)
    return diagnose::other_element_type<Spec, Value>{};
  else if constexpr (!tensor_like<Value> && !range_like<Value> && Spec::value.dims.rank != 0)
    return diagnose::number_for_a_tensor<Spec, Value>{};
}

/// What a feed is for.
template <class Graph, class Argument>
struct feed_traits {
  static constexpr fixed_array<ir::node_id, 0> nodes{};
  static constexpr bool replaces = false;
  static constexpr auto fault() { return no_feed<Argument>(); }
};
template <class Graph>
struct feed_traits<Graph, run_limits> {
  static constexpr fixed_array<ir::node_id, 0> nodes{};
  static constexpr bool replaces = false;
  static constexpr auto fault() {}
};
template <class Graph, class Id, class Value>
struct feed_traits<Graph, feed<Id, Value>> {
  static constexpr tensor_spec declared = find_record<Id>()->spec;
  static constexpr const auto& nodes = nodes_of_handle<Graph, Id>::nodes;
  static constexpr ir::node_id node = nodes.size() == 0 ? ir::no_node : nodes[0];
  /// True if the nodes are computed where they are not fed.
  static constexpr bool replaces = node != ir::no_node && !Graph::view.info(node).is(ir::op_kind::placeholder);
  /// The ranks of the nodes among the placeholders of the graph of the run.
  template <class RunGraph>
  static constexpr auto positions = [] {
    auto list = nodes;
    for (int& i : list) i = graph_tables<RunGraph>::placeholder_position(i);
    return list;
  }();
  using spec_type = spec_of<declared>;
  static constexpr std::string_view operation = node == ir::no_node ? std::string_view() : Graph::view.info(node).name;
  static constexpr fed_node about =
      node == ir::no_node ? fed_node{} : fed_node{operation, Graph::view[node].name, node, declared.dims};

  static constexpr bool is_waited_for() {
    for (ir::node_id i = 0; i < Graph::view.size(); ++i)
      for (const ir::node_id c : Graph::view.controls(i))
        for (const ir::node_id fed : nodes)
          if (c == fed) return true;
    return false;
  }
  static constexpr auto fault() {
    if constexpr (node == ir::no_node)
      return diagnose::not_in_program<spec_type>{};
    else if constexpr (replaces && !is_computed(Graph::view.info(node)))
      return diagnose::not_computed<spelled<fixed_copy<&operation>()>, spec_type>{};
    else if constexpr (replaces && is_waited_for())
      return diagnose::waited_for<spelled<fixed_copy<&operation>()>, spec_type>{};
    else
      return fault_of_value<spec_type, Value>();
  }
};

/// Whether one tensor is fed twice.
template <class Graph, class... Arguments>
struct repeated_feeds {
  static constexpr ir::node_id find() {
    const array_view<const ir::node_id> feeds[] = {feed_traits<Graph, Arguments>::nodes..., {}};
    fixed_array<bool, Graph::nodes> seen{};
    for (const auto& nodes : feeds)
      for (const ir::node_id i : nodes) {
        if (seen[i]) return i;
        seen[i] = true;
      }
    return ir::no_node;
  }
  static constexpr ir::node_id twice = find();
  static constexpr tensor_spec declared = twice == ir::no_node ? tensor_spec{} : Graph::view[twice].spec;
  static constexpr auto fault() {
    if constexpr (twice != ir::no_node) return diagnose::fed_twice<spec_of<declared>>{};
  }
};

/// `Fed`, and the nodes of one more feed.
template <class Traits, ir::node_id... Fed, std::size_t... I>
constexpr auto with_nodes(std::index_sequence<I...>) -> std::integer_sequence<ir::node_id, Fed..., Traits::nodes[I]...>;

/// The graph of a run with these arguments: a program's own, unless something else than placeholders is fed.
template <class Graph, class Fed, class... Arguments>
struct run_graph {
  using type = Graph;
};
template <class Graph, ir::node_id First, ir::node_id... Rest>
struct run_graph<Graph, std::integer_sequence<ir::node_id, First, Rest...>> {
  using type = fed_graph<Graph, First, Rest...>;
};
template <class Graph, ir::node_id... Fed, class Argument, class... Arguments>
struct run_graph<Graph, std::integer_sequence<ir::node_id, Fed...>, Argument, Arguments...>
    : run_graph<Graph, std::integer_sequence<ir::node_id, Fed...>, Arguments...> {};
template <class Graph, ir::node_id... Fed, class Argument, class... Arguments>
  requires(feed_traits<Graph, Argument>::replaces)
struct run_graph<Graph, std::integer_sequence<ir::node_id, Fed...>, Argument, Arguments...>
    : run_graph<Graph,
                decltype(with_nodes<feed_traits<Graph, Argument>, Fed...>(
                    std::make_index_sequence<feed_traits<Graph, Argument>::nodes.size()>{})),
                Arguments...> {};
template <class Graph, class... Arguments>
using graph_of_run = typename run_graph<Graph, std::integer_sequence<ir::node_id>, Arguments...>::type;

}  // namespace detail
}  // namespace tagma
