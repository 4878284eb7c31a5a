// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the elements of a dataset may be, and how functions are called with them.

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/diagnose.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::datasets {

namespace detail {

template <class T>
struct is_component
    : std::bool_constant<(element<T> && !std::is_same_v<T, string_element>) ||
                         (std::is_class_v<T> && std::is_aggregate_v<T> && std::default_initializable<T>)> {};
template <class T>
  requires std::is_arithmetic_v<T>
struct is_component<T> : std::true_type {
};
template <>
struct is_component<std::string> : std::true_type {};
template <class T>
struct is_component<tensor<T>> : std::bool_constant<!std::is_same_v<T, string_element>> {};
template <class T>
struct is_component<std::vector<T>> : is_component<T> {};
template <class A, class B>
struct is_component<std::pair<A, B>> : std::bool_constant<is_component<A>::value && is_component<B>::value> {};
template <class... T>
struct is_component<std::tuple<T...>> : std::bool_constant<(is_component<T>::value && ...)> {};

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class F, class T>
inline constexpr bool takes_parts = false;
template <class F, class... T>
inline constexpr bool takes_parts<F, std::tuple<T...>> = std::is_invocable_v<F, T...>;
template <class F, class A, class B>
inline constexpr bool takes_parts<F, std::pair<A, B>> = std::is_invocable_v<F, A, B>;
template <class F, class... T>
inline constexpr bool takes_parts<F, const std::tuple<T...>&> = std::is_invocable_v<F, const T&...>;
template <class F, class A, class B>
inline constexpr bool takes_parts<F, const std::pair<A, B>&> = std::is_invocable_v<F, const A&, const B&>;

template <class F, class T>
inline constexpr bool takes = std::is_invocable_v<F, T> || takes_parts<F, T>;

/// Calls a function with an element, or with the components of a tuple.
template <class F, class T>
decltype(auto) call(F& f, T&& x) {
  if constexpr (std::is_invocable_v<F&, T&&>)
    return f(std::forward<T>(x));
  else
    return std::apply(f, std::forward<T>(x));
}
template <class F, class T>
struct result {
  using type = void;
};
template <class F, class T>
  requires takes<const F&, T>
struct result<F, T> {
  using type = std::remove_cvref_t<decltype(detail::call(std::declval<const F&>(), std::declval<T>()))>;
};
/// What a function makes of an element; void if it takes none.
template <class F, class T>
using result_t = typename result<F, T>::type;

}  // namespace detail

}  // namespace tagma::datasets

namespace tagma::diagnose {

template <class T>
inline constexpr bool is_element_of_dataset = datasets::detail::is_component<T>::value;
/// An element, a function of one, whose operator() is const: several passes and threads call the same.
template <class F, class T>
inline constexpr bool takes_element = datasets::detail::takes<const F&, T>;

}  // namespace tagma::diagnose
