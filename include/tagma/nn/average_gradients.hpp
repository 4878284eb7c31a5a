// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The gradients of several towers as one, for replication inside a graph.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/constant.hpp"

namespace tagma {

namespace diagnose {
/// All towers have gradients of the same variables. The arguments are the first names that differ, void where a tower
/// has no more.
template <class First, class Other>
inline constexpr bool towers_have_the_same_variables = std::is_same_v<First, Other>;
}  // namespace diagnose

namespace detail {

/// Two names as types, for messages; void if there is none.
template <class First, class Other>
struct difference {
  using first = First;
  using other = Other;
};

/// The variable of pair `I` of a tower.
template <class Tower, std::size_t I>
using tower_variable = typename std::tuple_element_t<I, Tower>::first_type;

template <class Tower, std::size_t I>
struct spelled_variable {
  static constexpr std::string_view name = tower_variable<Tower, I>::record().name;
  using type = spelled<fixed_copy<&name>()>;
};

/// Where the variables of two towers differ first.
template <class A, class B, std::size_t I = 0>
[[nodiscard]] constexpr auto compare_towers() {
  if constexpr (I < std::tuple_size_v<A> && I < std::tuple_size_v<B>) {
    if constexpr (tower_variable<A, I>::record().name == tower_variable<B, I>::record().name)
      return compare_towers<A, B, I + 1>();
    else
      return difference<typename spelled_variable<A, I>::type, typename spelled_variable<B, I>::type>{};
  } else if constexpr (I < std::tuple_size_v<A>) {
    return difference<typename spelled_variable<A, I>::type, void>{};
  } else if constexpr (I < std::tuple_size_v<B>) {
    return difference<void, typename spelled_variable<B, I>::type>{};
  } else {
    return difference<void, void>{};
  }
}
template <class A>
[[nodiscard]] constexpr auto first_difference() {
  return difference<void, void>{};
}
template <class A, class B, class... More>
[[nodiscard]] constexpr auto first_difference() {
  using found = decltype(compare_towers<A, B>());
  if constexpr (std::is_same_v<typename found::first, typename found::other>)
    return first_difference<A, More...>();
  else
    return found{};
}

/// first + second + ..., from left to right.
template <class Place, int Index, class Sum>
[[nodiscard]] constexpr auto sum_of(const Sum& sum) {
  return sum;
}
template <class Place, int Index, class Sum, class Next, class... More>
[[nodiscard]] constexpr auto sum_of(const Sum& sum, const Next& next, const More&... more) {
  return sum_of<Place, Index + 1>(step<op::add, Place, Index>(sum, next), more...);
}

template <class Place, class... G>
[[nodiscard]] constexpr auto mean_of(const G&... gradients) {
  using T = typename std::tuple_element_t<0, std::tuple<G...>>::element_type;
  return step<op::divide, Place, 0>(sum_of<Place, 1>(gradients...), make_constant<T, bits_of(sizeof...(G))>());
}

template <class Place, std::size_t I, class First, class... More>
[[nodiscard]] constexpr auto mean_pair(const First& first, const More&... more) {
  const auto& [variable, gradient] = std::get<I>(first);
  return std::make_pair(variable, mean_of<part<Place, static_cast<int>(I)>>(gradient, std::get<I>(more).second...));
}

}  // namespace detail

/// The averages of the gradients that towers found for their variables, as pairs for `apply_gradients`. Where each
/// tower has an equal share of a batch and a loss that is a mean over it, these are the gradients of the mean over the
/// whole batch. They are summed from left to right. An average is a dense gradient, even of sparse ones.
/// @param first,more tuples of pairs (variable, gradient), as `compute_gradients` returns, with the same variables in
/// the same order
/// Raises TAGMA-E152 if the variables of two towers differ.
template <class... Pairs, class... Tower, class Place = TAGMA_FRESH_TYPE(Pairs..., Tower...),
          class Found = decltype(detail::first_difference<std::tuple<Pairs...>, Tower...>())>
[[nodiscard]] constexpr auto average_gradients(const std::tuple<Pairs...>& first, const Tower&... more) {
  using a = typename Found::first;
  using b = typename Found::other;
  static_assert(diagnose::towers_have_the_same_variables<a, b>,
                "TAGMA-E152 average_gradients: all towers need gradients of the same variables, in the same order");
  if constexpr (std::is_same_v<a, b>) return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::make_tuple(detail::mean_pair<Place, I>(first, more...)...);
    }
  (std::index_sequence_for<Pairs...>{});
}

}  // namespace tagma
