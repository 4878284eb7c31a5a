// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions that make datasets: of memory, numbers and functions. Those of files: file_datasets.hpp.

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/dataset.hpp"
#include "tagma/data/sources.hpp"

namespace tagma::diagnose {
template <class T>
inline constexpr bool has_slices = !std::is_void_v<typename datasets::detail::row_of<T>::type>;
template <class T>
inline constexpr bool is_dataset = datasets::detail::is_dataset<T>;
template <class F>
inline constexpr bool generates = false;
template <class F>
  requires std::is_invocable_v<F&>
inline constexpr bool generates<F> = requires(std::remove_cvref_t<std::invoke_result_t<F&>> value) {
  { value.has_value() } -> std::same_as<bool>;
  typename std::remove_cvref_t<std::invoke_result_t<F&>>::value_type;
};
}  // namespace tagma::diagnose

namespace tagma::datasets {

/// One element: what is given, a tuple if it is more than one thing. Raises TAGMA-E226.
template <class T, class... More>
[[nodiscard]] TAGMA_COLD auto from_tensors(T value, More... more) {
  using type = std::conditional_t<sizeof...(More) == 0, T, std::tuple<T, More...>>;
  static_assert(
      diagnose::is_element_of_dataset<type>,
      "TAGMA-E226 from_tensors: an element is a number, a std::string, a tensor (not of string_element), or a "
      "tuple, pair, vector or struct of these");
  return dataset<type>(stage_of<type>(new detail::one_element<type>(type(std::move(value), std::move(more)...))));
}

/// The rows of tensors and the elements of vectors, tuples of them if several are given. Throws `invalid_argument`
/// unless all have as many. Raises TAGMA-E232 for what has no rows.
template <class... T>
[[nodiscard]] TAGMA_COLD auto from_slices(T... components) {
  static_assert(sizeof...(T) > 0 && (diagnose::has_slices<T> && ...),
                "TAGMA-E232 from_slices: takes tensors (not of string_element) and vectors (not of bool)");
  if constexpr ((diagnose::has_slices<T> && ...))
    return dataset<typename detail::slices<T...>::type>(
        stage_of<typename detail::slices<T...>::type>(new detail::slices_source<T...>(std::move(components)...)));
}

// What is no template by nature has a parameter all the same: a program that does not call it does not compile its
// source.

/// The numbers from `first` on, before `last`, by `step`. None where the step leads away. Throws `invalid_argument` for
/// a step of 0.
template <class = void>
[[nodiscard]] TAGMA_COLD dataset<std::int64_t> range(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
  return dataset<std::int64_t>(make_counted<detail::range_source>(first, last, step));
}
template <class = void>
[[nodiscard]] TAGMA_COLD dataset<std::int64_t> range(std::int64_t count) {
  return datasets::range(0, count);
}

/// What a function returns, call by call, until it is an empty std::optional. Each pass begins with a copy of it.
/// Raises TAGMA-E233 where it returns something else.
template <class F>
[[nodiscard]] TAGMA_COLD auto generator(F f) {
  static_assert(diagnose::generates<F>,
                "TAGMA-E233 generator: a function without arguments that returns std::optional of an element");
  if constexpr (diagnose::generates<F>) {
    using type = typename std::remove_cvref_t<std::invoke_result_t<F&>>::value_type;
    return dataset<type>(make_counted<detail::generator_source<type, F>>(std::move(f)));
  }
}

/// Tuples of an element of each, up to the end of the shortest. Raises TAGMA-E229.
template <class... Datasets>
[[nodiscard]] TAGMA_COLD auto zip(const Datasets&... each) {
  static_assert(sizeof...(Datasets) > 0 && (diagnose::is_dataset<Datasets> && ...),
                "TAGMA-E229 zip: takes tagma::datasets");
  if constexpr ((diagnose::is_dataset<Datasets> && ...))
    return dataset<std::tuple<typename Datasets::value_type...>>(
        make_counted<detail::zipped<typename Datasets::value_type...>>(each.stage()...));
}

}  // namespace tagma::datasets
