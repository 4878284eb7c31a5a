// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the compiler refuses about a run: fetches, feeds, kernels.

#include <tuple>

#include "tagma/runtime/feed.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma {

/// Several results of one run: `auto [loss, accuracy] = session.run(fetch(loss, accuracy), ...)`.
template <expression... E>
struct fetch_list {};
/// Several outputs of a program as one list for `run`, which then returns a tuple. Raises TAGMA-E173 for what is no
/// expression.
template <expression... E>
[[nodiscard]] constexpr fetch_list<E...> fetch(const E&...) {
  return {};
}
template <class... E>
  requires(!diagnose::are_expressions<E...>)
auto fetch(const E&...) {
  static_assert(diagnose::are_expressions<E...>, "TAGMA-E173 fetch: takes expressions that are outputs of the program");
  return diagnose::refused{};
}

/// What can be wrong with a run: types whose names tell what it is about.
namespace diagnose {
template <class... What>
struct no_fetch {};
template <class Spec>
struct no_output {};
template <class Name, class Placeholder>
struct not_fed {};
struct no_order {};
template <class Operation>
struct no_kernel {};
/// The devices that a program knows of.
template <class... Device>
struct there_are {};
template <class Operation, class Spec, class Device, class There>
struct no_kernel_there {};
template <class Operation, class Device, class There>
struct no_such_device {};
template <class Operation, class Device, class Other, class OtherDevice, class There>
struct no_common_device {};

/// A run has no fault of this kind. `Fault` is the first one that it has, or void.
template <class Fault>
inline constexpr bool fetches_expressions = true;
template <class... What>
inline constexpr bool fetches_expressions<no_fetch<What...>> = false;
template <class Fault>
inline constexpr bool fetches_outputs = true;
template <class Spec>
inline constexpr bool fetches_outputs<no_output<Spec>> = false;
template <class Fault>
inline constexpr bool takes_feeds_behind_one_output = true;
template <class... Output>
inline constexpr bool takes_feeds_behind_one_output<second_output<Output...>> = false;
template <class Fault>
inline constexpr bool takes_feeds_and_limits = true;
template <class... Argument>
inline constexpr bool takes_feeds_and_limits<no_feed<Argument...>> = false;
template <class Fault>
inline constexpr bool feeds_tensors_of_the_program = true;
template <class Spec>
inline constexpr bool feeds_tensors_of_the_program<not_in_program<Spec>> = false;
template <class Fault>
inline constexpr bool feeds_what_is_computed = true;
template <class Operation, class Spec>
inline constexpr bool feeds_what_is_computed<not_computed<Operation, Spec>> = false;
template <class Fault>
inline constexpr bool feeds_what_nothing_waits_for = true;
template <class Operation, class Spec>
inline constexpr bool feeds_what_nothing_waits_for<waited_for<Operation, Spec>> = false;
template <class Fault>
inline constexpr bool feeds_once = true;
template <class Spec>
inline constexpr bool feeds_once<fed_twice<Spec>> = false;
template <class Fault>
inline constexpr bool feeds_have_element_types = true;
template <class Placeholder, class Value>
inline constexpr bool feeds_have_element_types<other_element_type<Placeholder, Value>> = false;
template <class Fault>
inline constexpr bool feeds_have_elements = true;
template <class Placeholder, class Value>
inline constexpr bool feeds_have_elements<no_elements<Placeholder, Value>> = false;
template <class Fault>
inline constexpr bool feeds_have_ranks = true;
template <class Placeholder, class Value>
inline constexpr bool feeds_have_ranks<number_for_a_tensor<Placeholder, Value>> = false;
template <class Fault>
inline constexpr bool feeds_everything = true;
template <class Name, class Placeholder>
inline constexpr bool feeds_everything<not_fed<Name, Placeholder>> = false;
template <class Fault>
inline constexpr bool has_an_order = true;
template <>
inline constexpr bool has_an_order<no_order> = false;
template <class Fault>
inline constexpr bool has_kernels = true;
template <class Operation>
inline constexpr bool has_kernels<no_kernel<Operation>> = false;
template <class Fault>
inline constexpr bool has_kernels_there = true;
template <class Operation, class Spec, class Device, class There>
inline constexpr bool has_kernels_there<no_kernel_there<Operation, Spec, Device, There>> = false;
template <class Fault>
inline constexpr bool devices_exist = true;
template <class Operation, class Device, class There>
inline constexpr bool devices_exist<no_such_device<Operation, Device, There>> = false;
template <class Fault>
inline constexpr bool colocates_what_fits = true;
template <class Operation, class Device, class Other, class OtherDevice, class There>
inline constexpr bool colocates_what_fits<no_common_device<Operation, Device, Other, OtherDevice, There>> = false;
}  // namespace diagnose

namespace detail {

template <expression E>
[[nodiscard]] constexpr fetch_list<E> as_list(const E&) {
  return {};
}
template <class... E>
[[nodiscard]] constexpr fetch_list<E...> as_list(const fetch_list<E...>& list) {
  return list;
}
/// What cannot be fetched; it counts as an empty list.
template <class What>
struct no_list : fetch_list<> {};
template <class What>
  requires(!expression<What>)
[[nodiscard]] constexpr no_list<What> as_list(const What&) { return {}; }

/// Two or more things in braces, of whatever types.
struct braced_list {
  template <class First, class Second, class... Rest>
  braced_list(const First&, const Second&, const Rest&...);
};

/// The first placeholder that a plan needs and the feeds lack, as a node of the plan; -1 if there is none.
template <class Plan, class... Traits>
[[nodiscard]] constexpr int first_missing() {
  const array_view<const ir::node_id> feeds[] = {Traits::nodes..., {}};
  fixed_array<bool, Plan::graph::nodes> fed{};
  for (const auto& nodes : feeds)
    for (const ir::node_id i : nodes) fed[i] = true;
  for (std::size_t i = 0; i < Plan::nodes.size(); ++i) {
    const plan::plan_node& n = Plan::nodes[i];
    if (!n.op->is(ir::op_kind::placeholder)) continue;
    if (!wants_value(Plan::needs[n.source]) && n.spec.dims.is_static()) continue;  // its extents are known
    if (!fed[n.source]) return static_cast<int>(i);
  }
  return -1;
}

template <class Graph, class E>
struct fetch_traits {
  static constexpr int position = Graph::traits::template position<typename E::id>();
  static constexpr auto fault() {
    if constexpr (position < 0) return diagnose::no_output<typename E::spec_type>{};
  }
};

/// The first fault among those of some fetches or feeds.
template <class... Traits>
struct first_fault {
  using type = void;
};
template <class First, class... Rest>
struct first_fault<First, Rest...> {
  using type = typename first_fault<Rest...>::type;
};
template <class First, class... Rest>
  requires(!std::is_void_v<decltype(First::fault())>)
struct first_fault<First, Rest...> {
  using type = decltype(First::fault());
};

/// The name of a device of this process, as a constant.
template <class Placed, std::size_t D>
struct listed_device {
  static constexpr device_spec name = Placed::placed.set()[D].name;
  static constexpr device_spelling spelling{device_spec{{}, -1, -1, name.type, name.id}};
  static constexpr std::string_view text = spelling.view();
};
template <class Placed, std::size_t... D>
constexpr auto list_devices(std::index_sequence<D...>)
    -> diagnose::there_are<spelled<fixed_copy<&listed_device<Placed, D>::text>()>...>;

/// What a message about a placement is about.
template <class Graph, class Plan>
struct misplaced {
  static constexpr ir::place_failure failure = Plan::where::placed.failure;
  static constexpr int node = failure.node, other = failure.other < 0 ? node : failure.other;
  static constexpr device_spelling asked{failure.asked}, other_asked{failure.other_asked};
  static constexpr std::string_view name = Graph::view.info(node).name, device = asked.view(),
                                    other_name = Graph::view.info(other).name, other_device = other_asked.view();
  static constexpr tensor_spec declared = Graph::view[node].spec;
  using there = decltype(list_devices<typename Plan::where>(std::make_index_sequence<Plan::where::device_count>{}));
};

/// What is wrong with what a run fetches, whatever its program is.
struct fetch_check {
  template <class What>
  static auto find(no_list<What>) {
    return std::conditional_t<std::is_same_v<What, diagnose::refused>, What, diagnose::no_fetch<What>>{};
  }
};

/// Whether the arguments of a run fit a program, and whether its plan can run.
template <class Graph, class... Arguments>
struct run_check : fetch_check {
  using fetch_check::find;

  template <class... E>
  static auto find(fetch_list<E...>) {
    using arguments = typename first_fault<fetch_traits<Graph, E>..., feed_traits<Graph, Arguments>...,
                                           repeated_feeds<Graph, Arguments...>>::type;
    if constexpr (std::is_void_v<arguments>)
      return find_in_plan<compiled_plan<graph_of_run<Graph, Arguments...>, fetch_traits<Graph, E>::position...>>();
    else
      return arguments{};
  }
  template <class Plan>
  static auto find_in_plan() {
    constexpr int missing = first_missing<Plan, feed_traits<Graph, Arguments>...>();
    if constexpr (Plan::raw.contradictory) {
      return diagnose::no_order{};
    } else if constexpr (missing >= 0) {
      static constexpr std::string_view name = Plan::nodes[missing].name;
      static constexpr tensor_spec declared = Plan::nodes[missing].spec;
      return diagnose::not_fed<spelled<fixed_copy<&name>()>, spec_of<declared>>{};
    } else {
      return find_in_kernels<Plan, runtime::kernel_table<Plan>>();
    }
  }
  template <class Plan, class Kernels>
  static auto find_in_kernels() {
    if constexpr (Kernels::missing != nullptr) {
      static constexpr std::string_view name = Kernels::missing->name;
      return diagnose::no_kernel<spelled<fixed_copy<&name>()>>{};
    } else if constexpr (Plan::where::placed.failure.problem != ir::place_problem::none) {
      return find_misplaced<Plan>();
    }
  }
  template <class Plan>
  static auto find_misplaced() {
    using about = misplaced<Graph, Plan>;
    using operation = spelled<fixed_copy<&about::name>()>;
    using place = spelled<fixed_copy<&about::device>()>;
    using there = typename about::there;
    if constexpr (about::failure.problem == ir::place_problem::no_kernel_there)
      return diagnose::no_kernel_there<operation, spec_of<about::declared>, place, there>{};
    else if constexpr (about::failure.problem == ir::place_problem::no_such_device)
      return diagnose::no_such_device<operation, place, there>{};
    else
      return diagnose::no_common_device<operation, place, spelled<fixed_copy<&about::other_name>()>,
                                        spelled<fixed_copy<&about::other_device>()>, there>{};
  }

  /// The first fault of a run that fetches `What`, or void.
  template <class What>
  using fault = decltype(run_check::find(as_list(std::declval<const What&>())));
};

}  // namespace detail
}  // namespace tagma
