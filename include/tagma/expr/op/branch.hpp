// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What elements decide: which of two functions of handles is computed, and how often one is. Both are loops: a branch
/// is done once or never, and what neither function reads is nowhere computed.

#include <tuple>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/op/loop.hpp"

namespace tagma {

namespace detail {

/// What a branch returns, as a tuple.
template <class T>
struct branch_result {
  using type = std::tuple<T>;
};
template <class... T>
struct branch_result<std::tuple<T...>> {
  using type = std::tuple<T...>;
};
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class Tuple>
inline constexpr bool are_handles = false;
template <class... T>
inline constexpr bool are_handles<std::tuple<T...>> = (sizeof...(T) > 0) && (true && ... && is_expression<T>);
template <class A, class B>
inline constexpr bool same_specs = false;
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
inline constexpr bool same_specs<std::tuple<A...>, std::tuple<B...>> =
    (true && ... && std::is_same_v<typename A::spec_type, typename B::spec_type>);
template <class T>
[[nodiscard]] constexpr auto as_tuple(const T& result) {
  if constexpr (is_tuple<T>)
    return result;
  else
    return std::make_tuple(result);
}

/// What a branch is given, and what it makes of that.
template <class Place, class Head, class Function, class... E, std::size_t... I>
[[nodiscard]] constexpr auto call_branch(const Head& head, const Function& function, std::index_sequence<I...>,
                                         const E&... e) {
  return function(make_node<ir::loop_given, ir::attributes<0>{}, part<Place, static_cast<int>(I)>>(e, head)...);
}
template <class Place, class P>
[[nodiscard]] constexpr auto begin_branch(const P& number) {
  return make_node<ir::times_head, ir::pack_attributes(1, false), part<Place, -1000>>(number);
}
template <class Place, class Head, class... R, std::size_t... I>
[[nodiscard]] constexpr auto end_first_branch(const Head& head, std::index_sequence<I...>, const R&... results) {
  return close_scan<0, sizeof...(R), Place>(
      head,
      make_node<ir::loop_result, ir::pack_attributes(I), part<Place, 100 + static_cast<int>(I)>>(head, results)...,
      results...);
}
/// @param before a result of the first branch, what the second begins with, for each
template <class Place, class Head, class... B, class... R, std::size_t... I>
[[nodiscard]] constexpr auto end_second_branch(const Head& head, std::index_sequence<I...>,
                                               const std::tuple<B...>& before, const R&... results) {
  return close_scan<0, sizeof...(R), Place>(
      head,
      make_node<ir::loop_carried, ir::pack_attributes(I), part<Place, 200 + static_cast<int>(I)>>(
          head, make_node<ir::loop_copy, ir::attributes<0>{}, part<Place, 100 + static_cast<int>(I)>>(
                    std::get<I>(before)))...,
      results...);
}
/// What a branch returns; void where it cannot be called.
template <bool Sound, class Place, class P, class Function, class... E>
struct branch_type {
  using type = void;
};
template <class Place, class P, class Function, class... E>
  requires requires(const Function& f, const P& p, const E&... e) {
    call_branch<Place>(begin_branch<Place>(p), f, std::index_sequence_for<E...>{}, e...);
  }
struct branch_type<true, Place, P, Function, E...> {
  using type =
      decltype(call_branch<Place>(begin_branch<Place>(std::declval<const P&>()), std::declval<const Function&>(),
                                  std::index_sequence_for<E...>{}, std::declval<const E&>()...));
};
template <class Place, class P>
[[nodiscard]] constexpr auto opposite(const P& predicate) {
  if constexpr (P::rank == 0 && std::is_same_v<typename P::element_type, bool>)
    return make_node<op::logical_not, ir::attributes<0>{}, part<Place, 0>>(predicate);
}
/// Places of what belongs to a branch; none if the call has none.
template <class Place, int Branch>
struct branch_place;
template <class Place, int Branch>
struct choose_branch {
  using type = branch_place<Place, Branch>;
};
template <int Branch>
struct choose_branch<void, Branch> {
  using type = void;
};
template <class Place>
using first_branch = typename choose_branch<Place, 1>::type;
template <class Place>
using second_branch = typename choose_branch<Place, 2>::type;

}  // namespace detail

namespace diagnose {
/// One bool decides.
template <class Spec>
inline constexpr bool is_decision = Spec::value.type == dtype::boolean&& Spec::value.dims.rank == 0;
/// Both branches return expressions, as many, and each of one type and shape.
template <class Then, class Otherwise>
inline constexpr bool branches_agree = detail::are_handles<typename detail::branch_result<Then>::type>&&
    detail::same_specs<typename detail::branch_result<Then>::type, typename detail::branch_result<Otherwise>::type>;
/// A test of what a loop carries gives one bool.
template <class Test>
inline constexpr bool is_test = false;
template <expression Test>
inline constexpr bool is_test<Test> = is_decision<typename Test::spec_type>;
}  // namespace diagnose

/// One of two functions of handles, as an element decides: only that is computed.
///
///     auto y = tg::cond(training, [](auto x) { return tg::dropout(x, 0.1); }, [](auto x) { return x; }, x);
///
/// What a function makes of its arguments is computed if it is taken; so is what it makes of other handles, if nothing
/// else reads that. Gradients flow through the one that was taken; the other's are zeros.
/// @param predicate bool, a scalar
/// @param then takes handles for `e`, returns an expression or a tuple of several
/// @param otherwise returns as many, of the same types and shapes
/// @return what the functions return
/// Raises TAGMA-E214 if the predicate is no scalar bool, TAGMA-E215 if the branches return different things.
template <expression P, class Then, class Otherwise, expression... E, class Place = TAGMA_FRESH_TYPE(Then),
          class First = typename detail::branch_type<diagnose::is_decision<typename P::spec_type>,
                                                     detail::first_branch<Place>, P, Then, E...>::type,
          class Second = typename detail::branch_type<
              diagnose::is_decision<typename P::spec_type>, detail::second_branch<Place>,
              decltype(detail::opposite<Place>(std::declval<const P&>())), Otherwise, E...>::type>
[[nodiscard]] constexpr auto cond(const P& predicate, const Then& then, const Otherwise& otherwise, const E&... e) {
  static_assert(diagnose::is_decision<typename P::spec_type>,
                "TAGMA-E214 cond: what decides needs to be one bool, a scalar");
  if constexpr (diagnose::is_decision<typename P::spec_type>) {
    static_assert(diagnose::branches_agree<First, Second>,
                  "TAGMA-E215 cond: both branches need to return as many expressions, of the same types and shapes");
    if constexpr (diagnose::branches_agree<First, Second>) {
      using detail::first_branch, detail::second_branch;
      constexpr auto all = std::index_sequence_for<E...>{};
      constexpr auto count = std::make_index_sequence<std::tuple_size_v<typename detail::branch_result<First>::type>>{};
      const auto first = detail::begin_branch<first_branch<Place>>(predicate);
      const auto before = std::apply(
          [&](const auto&... r) { return detail::end_first_branch<first_branch<Place>>(first, count, r...); },
          detail::as_tuple(detail::call_branch<first_branch<Place>>(first, then, all, e...)));
      const auto second = detail::begin_branch<second_branch<Place>>(detail::opposite<Place>(predicate));
      const auto results = std::apply(
          [&](const auto&... r) {
            return detail::end_second_branch<second_branch<Place>>(second, count, before, r...);
          },
          detail::as_tuple(detail::call_branch<second_branch<Place>>(second, otherwise, all, e...)));
      if constexpr (detail::is_tuple<First>)
        return results;
      else
        return std::get<0>(results);
    }
  }
}

namespace detail {

template <class Place>
struct body_of_while;
/// What a while loop has before its body: the head, and what it carries, first the test.
template <extent Most, class Place, class Go, class... Init, std::size_t... C>
[[nodiscard]] constexpr auto begin_while(const Go& go, const carry_list<Init...>& init, std::index_sequence<C...>) {
  const auto head = make_node<ir::while_head, ir::pack_attributes(Most, false), part<Place, 0>>(go);
  const auto carried = [&]<int I>(std::integral_constant<int, I>, const auto& start) {
    return make_node<ir::loop_carried, ir::pack_attributes(I), part<Place, 101 + I>>(
        head, make_node<ir::loop_copy, ir::attributes<0>{}, part<Place, -101 - I>>(start));
  };
  return std::make_tuple(
      head, carried(std::integral_constant<int, 0>{}, go),
      std::make_tuple(carried(std::integral_constant<int, static_cast<int>(C) + 1>{}, std::get<C>(init.handles))...));
}
template <bool Sound, extent Most, class Place, class Init, class Test, class Body>
struct while_types {
  using test = void;
  using next = void;
};
template <extent Most, class Place, class... Init, class Test, class Body>
  requires std::is_invocable_v<const Test&, const Init&...>
struct while_types<true, Most, Place, carry_list<Init...>, Test, Body> {
  using test = std::invoke_result_t<const Test&, const Init&...>;
  [[nodiscard]] static constexpr auto call(const carry_list<Init...>& init, const Test& go_on, const Body& body) {
    if constexpr (diagnose::is_test<test>)
      return std::apply(body, std::get<2>(begin_while<Most, Place>(std::apply(go_on, init.handles), init,
                                                                   std::index_sequence_for<Init...>{})));
  }
  using next = decltype(call(std::declval<const carry_list<Init...>&>(), std::declval<const Test&>(),
                             std::declval<const Body&>()));
};
/// Without the first of a tuple.
template <class Tuple>
[[nodiscard]] constexpr auto without_first(const Tuple& all) {
  return std::apply([](const auto&, const auto&... rest) { return std::make_tuple(rest...); }, all);
}

}  // namespace detail

/// Goes on as long as a test of what is carried is true, before each iteration.
///
///     auto [n, x] = tg::while_loop(tg::carry(n0, x0), [](auto n, auto) { return n < 10; },
///                                  [](auto n, auto x) { return tg::next(n + 1, x * 2.0f); });
///
/// @tparam Most the most iterations, behind which it ends; 0 if there is no such number. Gradients need one: what the
/// body has computed is kept for so many
/// @param init `tagma::carry(...)`; their shapes stay
/// @param go_on takes what is carried, returns a scalar bool
/// @param body takes what is carried, returns `tagma::next(...)`
/// @return a tuple of the carried values behind the last iteration
/// Raises TAGMA-E216 and TAGMA-E217; when the program is compiled TAGMA-E204 to TAGMA-E206, TAGMA-E209 for a gradient
/// of a loop without limit and TAGMA-E219 for a second one.
template <extent Most = 0, class... Init, class Test, class Body, class Place = TAGMA_FRESH_TYPE(Body),
          class Types = detail::while_types<true, Most, Place, detail::carry_list<Init...>, Test, Body>,
          class Go = typename Types::test, class Next = typename Types::next>
[[nodiscard]] constexpr auto while_loop(const detail::carry_list<Init...>& init, const Test& go_on, const Body& body) {
  static_assert(diagnose::is_test<Go>, "TAGMA-E216 while_loop: the test needs to return one bool, a scalar");
  if constexpr (diagnose::is_test<Go>) {
    static_assert(diagnose::returns_next<Next>, "TAGMA-E217 while_loop: the body returns tagma::next(...)");
    if constexpr (diagnose::returns_next<Next>) {
      static_assert(diagnose::carries_all<std::tuple<Init...>, decltype(Next::next)> &&
                        diagnose::keep_their_types<std::tuple<Init...>, decltype(Next::next)>,
                    "TAGMA-E217 while_loop: the body returns a next value of the same type and shape for each that the "
                    "loop carries");
      if constexpr (diagnose::carries_all<std::tuple<Init...>, decltype(Next::next)> &&
                    diagnose::keep_their_types<std::tuple<Init...>, decltype(Next::next)>) {
        const auto begun =
            detail::begin_while<Most, Place>(std::apply(go_on, init.handles), init, std::index_sequence_for<Init...>{});
        const auto next = std::apply(body, std::get<2>(begun)).next;
        return detail::without_first(std::apply(
            [](const auto&... all) {
              return detail::close_scan<0, static_cast<int>(sizeof...(Init)) + 1, Place>(all...);
            },
            std::tuple_cat(std::make_tuple(std::get<0>(begun), std::get<1>(begun)), std::get<2>(begun),
                           std::make_tuple(std::apply(go_on, next)), next)));
      }
    }
  }
}

}  // namespace tagma
