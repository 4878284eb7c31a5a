// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Batches of structs, whose members somebody has named.

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/batching.hpp"
#include "tagma/data/dataset.hpp"

namespace tagma {

namespace datasets {

/// Names the members of a struct, so that elements of it have batches: specialise it.
///
///     struct digit { tg::tensor<float> image; std::int64_t label; };
///     struct digits { tg::tensor<float> image; tg::tensor<std::int64_t> label; };
///     template <>
///     struct tg::datasets::members<digit> {
///       static auto tie(digit& d) { return std::tie(d.image, d.label); }
///       using batch = digits;  // made of the batches of the members, in braces; without it, they are a std::tuple
///     };
template <class T>
struct members;

namespace detail {

template <class T>
concept described = requires(T& x) {
  members<T>::tie(x);
};

/// The members of a described struct, as types; their batches; what a batch is.
template <class Tie>
struct tied;
template <class... T>
struct tied<std::tuple<T&...>> {
  using rows = std::tuple<T...>;
  static constexpr bool can_batch = (detail::can_batch<T>::value && ...);
  template <class Batch>
  static constexpr bool makes = requires {
    Batch{std::declval<typename batch_of<T>::type>()...};
  };
};
template <class T>
using tied_t = tied<decltype(members<T>::tie(std::declval<T&>()))>;

template <class T>
inline constexpr bool can_batch_members = false;
template <described T>
inline constexpr bool can_batch_members<T> = tied_t<T>::can_batch;
template <described T>
struct can_batch<T> : std::bool_constant<can_batch_members<T>> {};

template <class T, class Rows = typename tied_t<T>::rows>
struct batch_of_members {
  using type = typename batch_of<Rows>::type;
};
template <class T, class Rows>
  requires requires { typename members<T>::batch; }
struct batch_of_members<T, Rows> {
  using type = typename members<T>::batch;
};

template <described T>
class collector<T> {
 public:
  using type = typename batch_of_members<T>::type;
  collector(extent most, const no_options& options) : parts_(made(most, options, indices())) {}
  void add(extent i, T& x, std::size_t) { add(i, members<T>::tie(x), indices()); }
  void take(extent count, type& to) {
    std::apply([&](auto&... part) { to = type{taken(part, count)...}; }, parts_);
  }

 private:
  using rows = typename tied_t<T>::rows;
  using indices = std::make_index_sequence<std::tuple_size_v<rows>>;
  template <class>
  struct collectors;
  template <class... Part>
  struct collectors<std::tuple<Part...>> {
    using type = std::tuple<collector<Part>...>;
  };
  using parts = typename collectors<rows>::type;

  template <class Part>
  [[nodiscard]] static typename Part::type taken(Part& part, extent count) {
    typename Part::type batch;
    part.take(count, batch);
    return batch;
  }
  template <std::size_t... I>
  [[nodiscard]] static parts made(extent most, const no_options& options, std::index_sequence<I...>) {
    return parts(std::tuple_element_t<I, parts>(most, options)...);
  }
  template <class Tie, std::size_t... I>
  void add(extent i, const Tie& tie, std::index_sequence<I...>) {
    (std::get<I>(parts_).add(i, std::get<I>(tie), I), ...);
  }

  parts parts_;
};

template <described T>
struct padded_types<T> : padded_types<typename tied_t<T>::rows> {};

template <described T>
class padding_collector<T> {
 public:
  using type = typename batch_of_members<T>::type;
  padding_collector(extent, const padding_options& options) : options_(&options) {}
  void add(extent i, T& x, std::size_t) {
    if (i == 0) all_.clear();
    all_.push_back(std::move(x));
  }
  void take(extent, type& to) { to = take(std::make_index_sequence<std::tuple_size_v<rows>>()); }

 private:
  using rows = typename tied_t<T>::rows;
  template <std::size_t... I>
  [[nodiscard]] type take(std::index_sequence<I...>) {
    return type{detail::padded(column<I>(), *options_, I)...};
  }
  template <std::size_t I>
  [[nodiscard]] std::vector<std::tuple_element_t<I, rows>> column() {
    std::vector<std::tuple_element_t<I, rows>> result;
    result.reserve(all_.size());
    for (T& x : all_) result.push_back(std::move(std::get<I>(members<T>::tie(x))));
    return result;
  }

  const padding_options* options_;
  std::vector<T> all_;
};

template <class T>
concept with_batch = described<T> && can_batch_members<T> && requires {
  typename members<T>::batch;
};

}  // namespace detail

}  // namespace datasets

namespace diagnose {
template <datasets::detail::with_batch T>
inline constexpr bool makes_batch<T> =
    datasets::detail::tied_t<T>::template makes<typename datasets::members<T>::batch>&&
        is_element_of_dataset<typename datasets::members<T>::batch>;
}  // namespace diagnose

}  // namespace tagma
