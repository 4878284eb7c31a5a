// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops: a function of handles that runs once for each element of a sequence, and hands values from one iteration to
/// the next. It is called once, when the program is written; the graph has its body once.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/op/transpose.hpp"
#include "tagma/ir/loops.hpp"

namespace tagma {

namespace detail {

/// What a loop begins with.
template <expression... E>
struct carry_list {
  std::tuple<E...> handles;
};
/// What it goes over.
template <int Axis, expression... E>
struct sequence_list {
  std::tuple<E...> handles;
};
template <class Next, class Out>
struct iteration_result;
/// What an iteration hands to the next, and what it hands out.
template <expression... N, expression... O>
struct iteration_result<std::tuple<N...>, std::tuple<O...>> {
  std::tuple<N...> next;
  std::tuple<O...> out;

  /// The same with what the loop gathers: one tensor of all iterations for each.
  template <expression... E>
  [[nodiscard]] constexpr auto emit(const E&... e) const {
    return iteration_result<std::tuple<N...>, std::tuple<E...>>{next, {e...}};
  }
};
template <class T>
inline constexpr bool is_iteration_result = false;
template <class N, class O>
inline constexpr bool is_iteration_result<iteration_result<N, O>> = true;

/// Brings an axis to the front; the others keep their order.
template <int Rank, int Axis>
inline constexpr auto axis_to_front = [] {
  ir::attributes<static_cast<std::size_t>(Rank)> order;
  order.values[0] = Axis;
  for (int i = 1; i < Rank; ++i) order.values[i] = i <= Axis ? i - 1 : i;
  return order;
}();
/// The way back.
template <int Rank, int Axis>
inline constexpr auto front_to_axis = [] {
  ir::attributes<static_cast<std::size_t>(Rank)> order;
  for (int i = 0; i < Rank; ++i) order.values[i] = i < Axis ? i + 1 : i == Axis ? 0 : i;
  return order;
}();
/// True for a variable, and views of it: a loop goes over a copy, since updates write what others read.
[[nodiscard]] constexpr bool is_of_variable(const ir::record* r) {
  while (r->op->info->is(ir::op_kind::view)) r = r->inputs[0];
  return r->op->info->is(ir::op_kind::variable);
}
template <int Axis, class Place, class E>
[[nodiscard]] constexpr auto time_first(const E& e) {
  if constexpr (Axis == 0 && is_of_variable(&E::record()))
    return make_node<ir::loop_copy, ir::attributes<0>{}, Place>(e);
  else if constexpr (Axis == 0)
    return e;
  else
    return make_node<op::transpose, axis_to_front<E::rank, Axis>, Place>(e);
}
/// The last axis, where elements have fewer axes than those of the sequences.
template <int Axis, class Place, class E>
[[nodiscard]] constexpr auto time_back(const E& e) {
  constexpr int axis = Axis < E::rank ? Axis : E::rank - 1;
  if constexpr (axis <= 0)
    return e;
  else
    return make_node<op::transpose, front_to_axis<E::rank, axis>, Place>(e);
}

}  // namespace detail

namespace diagnose {
/// A sequence has the axis that a loop goes along, and all have as many elements.
template <int Axis, class... X>
inline constexpr bool are_sequences = (true && ... && (Axis >= 0 && Axis < X::value.dims.rank));
template <int Axis, extent Length, class... X>
inline constexpr bool lengths_agree = [] {
  extent length = Length;
  bool agree = true;
  if constexpr (are_sequences<Axis, X...>)
    ((agree = agree && compatible(length, X::value.dims[Axis]), length = length == dyn ? X::value.dims[Axis] : length),
     ...);
  return agree;
}();
/// There is something that tells how often a loop runs.
template <extent Length, class... X>
inline constexpr bool has_length = Length >= 0 || sizeof...(X) > 0;
/// The body of a loop returns `tagma::next(...)`.
template <class Result>
inline constexpr bool returns_next = detail::is_iteration_result<Result>;
/// It has a next value for each that it carries.
template <class Carried, class Next>
inline constexpr bool carries_all = std::tuple_size_v<Carried> == std::tuple_size_v<Next>;
/// Each next value has the type and shape of what is carried.
template <class Carried, class Next>
inline constexpr bool keep_their_types = true;
template <class... Carried, class... Next>
  requires(sizeof...(Carried) == sizeof...(Next))
inline constexpr bool keep_their_types<std::tuple<Carried...>, std::tuple<Next...>> =
    (true && ... && std::is_same_v<typename Carried::spec_type, typename Next::spec_type>);
}  // namespace diagnose

/// What would be a loop as nodes of their own: `return_sequences | unrolled`. Each may then run beside others; the
/// compiler has that many more nodes to look at.
struct unrolled_steps {};
/// The value of `unrolled_steps`.
inline constexpr unrolled_steps unrolled{};

/// What a loop begins with: the values that its first iteration is given.
template <expression... E>
[[nodiscard]] constexpr detail::carry_list<E...> carry(const E&... e) {
  return {{e...}};
}
/// What a loop goes over: one element of each along an axis in each iteration.
template <int Axis = 0, expression... E>
[[nodiscard]] constexpr detail::sequence_list<Axis, E...> over(const E&... e) {
  return {{e...}};
}
/// What the body of a loop returns: a value for each that it carries. `next(h).emit(y)` also hands out `y`.
template <expression... E>
[[nodiscard]] constexpr auto next(const E&... e) {
  return detail::iteration_result<std::tuple<E...>, std::tuple<>>{{e...}, {}};
}

namespace detail {

/// What a loop has before its body: the sequences with the time first, the head, and what the body is given.
template <extent Length, bool Reversed, class Place, int Axis, class... Init, class... X, std::size_t... C,
          std::size_t... S>
[[nodiscard]] constexpr auto begin_scan(const carry_list<Init...>& init, const sequence_list<Axis, X...>& over,
                                        std::index_sequence<C...>, std::index_sequence<S...>) {
  constexpr int carries = sizeof...(Init), sequences = sizeof...(X);
  [[maybe_unused]] const auto rows =
      std::make_tuple(time_first<Axis, part<Place, static_cast<int>(S)>>(std::get<S>(over.handles))...);
  const auto head =
      make_node<ir::loop_head, ir::pack_attributes(Length, Reversed), part<Place, sequences>>(std::get<S>(rows)...);
  constexpr int first = sequences + 1, second = first + 2 * carries;
  return std::make_tuple(
      head,
      std::make_tuple(
          make_node<ir::loop_carried, ir::pack_attributes(C), part<Place, first + carries + static_cast<int>(C)>>(
              head, make_node<ir::loop_copy, ir::attributes<0>{}, part<Place, first + static_cast<int>(C)>>(
                        std::get<C>(init.handles)))...),
      std::make_tuple(make_node<ir::loop_element, ir::attributes<0>{}, part<Place, second + static_cast<int>(S)>>(
          head, std::get<S>(rows))...));
}
template <int Axis, int Carries, class Whole, class Place, class Node, int... Output>
[[nodiscard]] constexpr auto scan_results(const Node& node, std::integer_sequence<int, Output...>) {
  using id = typename Node::id;
  return std::make_tuple(time_back<(Output < Carries ? 0 : Axis), part<Place, -2 - Output>>(
      make_handle<output_definition<Whole, id, Output>,
                  std::conditional_t<is_structural<id>, void, result_of<id, Output>>>(node))...);
}
/// @param e head, carried values, next values, other results
template <int Axis, int Carries, class Place, class... E>
[[nodiscard]] constexpr auto close_scan(const E&... e) {
  using whole = node_definition<ir::loop_end, ir::pack_attributes(Carries), id_list<typename E::id...>, id_list<>,
                                part<Place, -1>>;
  return scan_results<Axis, Carries, whole, Place>(
      make_handle<whole, part<Place, -1>>(e...),
      std::make_integer_sequence<int, static_cast<int>(sizeof...(E)) - 1 - Carries>{});
}
template <class Begun>
inline constexpr int carries_of = static_cast<int>(std::tuple_size_v<std::tuple_element_t<1, Begun>>);
template <int Axis, class Place, class Begun, class Result>
[[nodiscard]] constexpr auto end_scan(const Begun& begun, const Result& result) {
  return std::apply([](const auto&... e) { return close_scan<Axis, carries_of<Begun>, Place>(e...); },
                    std::tuple_cat(std::make_tuple(std::get<0>(begun)), std::get<1>(begun), result.next, result.out));
}

template <class Body, class Begun>
[[nodiscard]] constexpr auto call_body(const Body& body, const Begun& begun) {
  return std::apply(body, std::tuple_cat(std::get<1>(begun), std::get<2>(begun)));
}
/// What the body of a loop returns; void where there can be no loop.
template <bool Sound, extent Length, bool Reversed, class Place, class Init, class Over, class Body>
struct body_result {
  using type = void;
};
template <extent Length, bool Reversed, class Place, class... Init, int Axis, class... X, class Body>
struct body_result<true, Length, Reversed, Place, carry_list<Init...>, sequence_list<Axis, X...>, Body> {
  using type = decltype(call_body(
      std::declval<const Body&>(),
      begin_scan<Length, Reversed, Place>(std::declval<const carry_list<Init...>&>(),
                                          std::declval<const sequence_list<Axis, X...>&>(),
                                          std::index_sequence_for<Init...>{}, std::index_sequence_for<X...>{})));
};
template <extent Length, int Axis, class... X>
inline constexpr bool sound_sequences = diagnose::are_sequences<Axis, typename X::spec_type...>&&
    diagnose::lengths_agree<Axis, Length, typename X::spec_type...>&& diagnose::has_length<Length, X...>;

}  // namespace detail

/// Goes over sequences, from their first element to the last: the body is given what is carried and an element of each,
/// and returns what the next iteration is given.
///
///     auto [h, ys] = tg::scan(tg::carry(h0), tg::over(xs), [&](auto h, auto x) {
///       auto next = tg::tanh(tg::matmul(x, w) + tg::matmul(h, u));
///       return tg::next(next).emit(next);
///     });
///
/// The body is called once, when the program is written. What it computes from neither is done in front of the loop,
/// and a product of elements with such a value is one product of them all.
/// @tparam Length iterations, where there are no sequences; else their length, if it is not `tagma::dyn`
/// @tparam Reversed from the last element to the first; results keep the order of the elements
/// @param init `tagma::carry(...)`; their shapes stay
/// @param over `tagma::over<Axis>(...)`; every length may be `dyn`, they must be equal in a run
/// @param body takes handles: what is carried, then the elements
/// @return a tuple: the carried values behind the last iteration, then what was handed out by `emit`, with the axis of
/// the iterations where the sequences have it, or last, if there are fewer axes
/// Raises TAGMA-E200 to TAGMA-E203; and when the program is compiled TAGMA-E204 to TAGMA-E206.
template <extent Length = dyn, bool Reversed = false, int Axis, class... Init, class... X, class Body,
          class Place = TAGMA_FRESH_TYPE(Body),
          class Result =
              typename detail::body_result<detail::sound_sequences<Length, Axis, X...>, Length, Reversed, Place,
                                           detail::carry_list<Init...>, detail::sequence_list<Axis, X...>, Body>::type>
[[nodiscard]] constexpr auto scan(const detail::carry_list<Init...>& init,
                                  const detail::sequence_list<Axis, X...>& over, const Body& body) {
  static_assert(diagnose::are_sequences<Axis, typename X::spec_type...>,
                "TAGMA-E200 scan: a sequence has no such axis");
  static_assert(diagnose::lengths_agree<Axis, Length, typename X::spec_type...>,
                "TAGMA-E201 scan: the sequences have different lengths");
  static_assert(diagnose::has_length<Length, X...>,
                "TAGMA-E201 scan: without a sequence the number of iterations is a template argument: scan<10>(...)");
  if constexpr (detail::sound_sequences<Length, Axis, X...>) {
    static_assert(diagnose::returns_next<Result>, "TAGMA-E202 scan: the body of a loop returns tagma::next(...)");
    if constexpr (diagnose::returns_next<Result>) {
      static_assert(diagnose::carries_all<std::tuple<Init...>, decltype(Result::next)>,
                    "TAGMA-E202 scan: the body of a loop returns a next value for each that the loop carries");
      static_assert(diagnose::keep_their_types<std::tuple<Init...>, decltype(Result::next)>,
                    "TAGMA-E203 scan: the next value of what a loop carries must have its type and shape");
      if constexpr (diagnose::carries_all<std::tuple<Init...>, decltype(Result::next)> &&
                    diagnose::keep_their_types<std::tuple<Init...>, decltype(Result::next)>) {
        const auto begun = detail::begin_scan<Length, Reversed, Place>(init, over, std::index_sequence_for<Init...>{},
                                                                       std::index_sequence_for<X...>{});
        return detail::end_scan<Axis, Place>(begun, detail::call_body(body, begun));
      }
    }
  }
}

}  // namespace tagma
