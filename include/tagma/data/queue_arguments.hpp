// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What is put into a queue of typed components: tensors, views, and numbers for scalars.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace diagnose {
/// As many arguments as components, or one more: limits.
template <class Specs, class... Given>
inline constexpr bool fill_components = false;
template <class... Specs, class... Given>
inline constexpr bool fill_components<std::tuple<Specs...>, Given...> = [] {
  if constexpr (sizeof...(Given) == sizeof...(Specs) + 1)
    return std::is_convertible_v<std::tuple_element_t<sizeof...(Specs), std::tuple<Given...>>, run_limits>;
  return sizeof...(Given) == sizeof...(Specs);
}();
/// A tensor, a view, or a number that the elements can be: none with a point for integers.
template <class Spec, class Given>
inline constexpr bool is_component = false;
}  // namespace diagnose

namespace detail {

[[nodiscard]] inline raw_view view_of_component(const raw_view& v) { return v; }
template <class T>
[[nodiscard]] raw_view view_of_component(const tensor<T>& t) {
  return erase(t);
}
template <class T>
[[nodiscard]] raw_view view_of_component(const view<T>& v) {
  return erase(v);
}

/// Throws InvalidArgument for a number that is none of the component's.
/// @param amount without its sign
[[noreturn]] void refuse_number(std::size_t component, const tensor_spec& spec, bool negative, std::uint64_t amount);

template <class Given>
concept viewed_component = requires(const Given& g) {
  view_of_component(g);
};
}  // namespace detail

namespace diagnose {
template <class Spec, detail::viewed_component Given>
inline constexpr bool is_component<Spec, Given> = true;
template <class Spec, class Given>
  requires(!detail::viewed_component<Given> && std::is_convertible_v<Given, typename Spec::element_type>)
inline constexpr bool is_component<Spec, Given> =
    Spec::value.dims.rank == 0 && !(std::is_integral_v<typename Spec::element_type> && std::is_floating_point_v<Given>);
}  // namespace diagnose

namespace detail {

template <class... Specs>
struct queue_arguments {
  /// Whether the first of these are components.
  template <class Given, std::size_t... I>
  static constexpr bool are_components(std::index_sequence<I...>) {
    return (true && ... && diagnose::is_component<Specs, std::remove_cvref_t<std::tuple_element_t<I, Given>>>);
  }
  /// Whether these are what a tuple is made of.
  template <class... T>
  static constexpr bool fit = [] {
    if constexpr (diagnose::fill_components<std::tuple<Specs...>, T...>)
      return are_components<std::tuple<T...>>(std::index_sequence_for<Specs...>{});
    return false;
  }();
  /// Calls `f(limits, tensors)`; numbers become scalars of the type that the queue has there.
  template <class F, class... T>
  static void with_limits(const F& f, const T&... given) {
    with_limits(f, std::forward_as_tuple(given...), std::index_sequence_for<Specs...>{});
  }

 private:
  template <class F, class... T, std::size_t... I>
  static void with_limits(const F& f, const std::tuple<T...>& given, std::index_sequence<I...>) {
    const std::tuple<scalar_of<Specs, std::remove_cvref_t<std::tuple_element_t<I, std::tuple<T...>>>>...> scalars{
        numbered<std::tuple_element_t<I, std::tuple<T...>>>{std::get<I>(given), I}...};
    const raw_view all[] = {std::get<I>(scalars).view(std::get<I>(given))...};
    if constexpr (sizeof...(T) > sizeof...(Specs))
      f(run_limits(std::get<sizeof...(Specs)>(given)), array_view<const raw_view>(all, sizeof...(Specs)));
    else
      f(run_limits{}, array_view<const raw_view>(all, sizeof...(Specs)));
  }
  /// An argument, and which.
  template <class Given>
  struct numbered {
    Given given;
    std::size_t number;
  };
  /// Keeps a number as an element while it is copied.
  template <class Spec, class Given>
  struct scalar_of {
    using element_type = typename Spec::element_type;
    static constexpr bool is_number = !viewed_component<Given>;
    template <class Argument>
    scalar_of(const numbered<Argument>& a) {
      if constexpr (is_number) {
        value = static_cast<element_type>(a.given);
        if constexpr (std::is_integral_v<element_type> && std::is_integral_v<Given>)
          if (static_cast<Given>(value) != a.given || (value < element_type{}) != (a.given < Given{}))
            refuse_number(
                a.number, Spec::value, a.given < Given{},
                a.given < Given{} ? 0 - static_cast<std::uint64_t>(a.given) : static_cast<std::uint64_t>(a.given));
      }
    }
    [[nodiscard]] raw_view view([[maybe_unused]] const Given& given) const {
      if constexpr (is_number)
        return {&value, Spec::value.type, {}};
      else
        return view_of_component(given);
    }
    element_type value{};
  };
};

}  // namespace detail
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/queue_arguments.ipp"
#endif
