// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What is put into a queue of typed components: tensors, views, and numbers for scalars.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::detail {

template <class... Specs>
struct queue_arguments {
  [[nodiscard]] static raw_view view_of(const raw_view& v) { return v; }
  template <class T>
  [[nodiscard]] static raw_view view_of(const tensor<T>& t) {
    return erase(t);
  }
  template <class T>
  [[nodiscard]] static raw_view view_of(const view<T>& v) {
    return erase(v);
  }
  /// Calls `f(limits, tensors)`; numbers become scalars of the type that the queue has there.
  template <class F, class... T>
  static void with_limits(const F& f, const T&... given) {
    static_assert(sizeof...(T) == sizeof...(Specs) || sizeof...(T) == sizeof...(Specs) + 1,
                  "a tuple needs a tensor for each component of the queue");
    with_limits(f, std::forward_as_tuple(given...), std::index_sequence_for<Specs...>{});
  }
  template <class F, class Given, std::size_t... I>
  static void with_limits(const F& f, const Given& given, std::index_sequence<I...>) {
    const std::tuple<scalar_of<Specs, std::tuple_element_t<I, Given>>...> scalars{std::get<I>(given)...};
    const raw_view all[] = {std::get<I>(scalars).view(std::get<I>(given))...};
    if constexpr (std::tuple_size_v < Given >> sizeof...(Specs))
      f(run_limits(std::get<sizeof...(Specs)>(given)), array_view<const raw_view>(all, sizeof...(Specs)));
    else
      f(run_limits{}, array_view<const raw_view>(all, sizeof...(Specs)));
  }
  /// Keeps a number as an element while it is copied.
  template <class Spec, class Given>
  struct scalar_of {
    using element_type = typename Spec::element_type;
    static constexpr bool is_number = std::is_convertible_v<Given, element_type> && !requires(const Given& g) {
      view_of(g);
    };
    explicit scalar_of(const Given& given) {
      if constexpr (is_number) value = static_cast<element_type>(given);
    }
    [[nodiscard]] raw_view view([[maybe_unused]] const Given& given) const {
      if constexpr (is_number)
        return {&value, Spec::value.type, {}};
      else
        return view_of(given);
    }
    element_type value{};
  };
};

}  // namespace tagma::detail
