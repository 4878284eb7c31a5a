// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What puts the elements of a batch together, component by component.

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/sources.hpp"

namespace tagma::datasets::detail {

template <class T>
inline constexpr bool is_number = element<T> && !std::is_same_v<T, string_element>;

/// Gives a tensor memory for `all` rows, where its first ones stay.
template <class T>
TAGMA_COLD void keep_rows(tensor<T>& of, extent rows, extent all) {
  shape dims = of.dims();
  dims[0] = all;
  tensor<T> to(dims);
  const std::size_t row = dims[0] == 0 ? 0 : to.size() / static_cast<std::size_t>(all);
  detail::copy_bytes(to.data(), of.data(), row * static_cast<std::size_t>(rows) * sizeof(T));
  swap(to, of);
}

/// Of plain batches.
struct no_options {};

/// The rows of a batch of tensors, whatever their elements are: how many there is to be memory for.
class batch_rows {
 public:
  explicit batch_rows(extent most) : most_(most) {}

  /// Whether element `i` has no place in memory of these extents: then there is to be memory for `more(i)`, behind
  /// `i` rows which stay. Throws `invalid_argument` for elements of several shapes, or of too many axes.
  [[nodiscard]] bool lacks(extent i, const shape& element, const shape& memory, std::size_t component);
  [[nodiscard]] shape more(extent i) const;

 private:
  /// Rows that memory is asked for at first.
  [[nodiscard]] extent at_least() const { return most_ < at_first ? most_ : at_first; }
  [[nodiscard]] bool begin(const shape& element, const shape& memory);
  [[noreturn]] void differ(extent i, const shape& element, std::size_t component) const;

  static constexpr extent at_first = 256;
  extent most_;
  shape row_;
};

/// Collects one component of the elements of a batch, from element 0 on again and again. Memory grows with the
/// elements, not with what they may be.
template <class T>
class collector;

/// Exchanges the rows of a collector with a batch that nobody needs any more: the next batch may have its memory.
template <class T>
void take_rows(tensor<T>& from, extent count, tensor<T>& to) {
  if (count != from.dims()[0]) detail::keep_rows(from, count, count);
  swap(from, to);
}

template <class T>
  requires is_number<T>
class collector<T> {
 public:
  using type = tensor<T>;
  collector(extent most, const no_options&) : most_(most) {}
  void add(extent i, T& x, std::size_t) {
    if (i >= room_) grow(i);
    all_[i] = x;
  }
  void take(extent count, type& to) {
    detail::take_rows(all_, count, to);
    room_ = 0;
  }
  /// Memory of a batch that nobody needs any more.
  void reuse(type& old) { swap(all_, old); }

 private:
  static constexpr extent at_first = 1024;
  TAGMA_COLD void grow(extent i) {
    const extent first = most_ < at_first ? most_ : at_first;
    if (i > 0)
      detail::keep_rows(all_, i, i > most_ / 2 ? most_ : i * 2);
    else if (all_.dims().rank != 1 || all_.dims()[0] < first || all_.dims()[0] > most_)
      all_ = tensor<T>(shape{first});
    room_ = all_.dims()[0];
  }
  extent most_, room_ = 0;  // room_: elements that there is a place for
  tensor<T> all_;
};

template <class T>
class collector<tensor<T>> {
 public:
  using type = tensor<T>;
  collector(extent most, const no_options&) : rows_(most) {}
  void add(extent i, tensor<T>& x, std::size_t component) {
    if (rows_.lacks(i, x.dims(), all_.dims(), component)) grow(i);
    const std::size_t bytes = x.size() * sizeof(T);
    detail::copy_bytes(reinterpret_cast<std::byte*>(all_.data()) + static_cast<std::size_t>(i) * bytes, x.data(),
                       bytes);
  }
  void take(extent count, type& to) { detail::take_rows(all_, count, to); }
  /// Memory of a batch that nobody needs any more.
  void reuse(type& old) { swap(all_, old); }

 private:
  TAGMA_COLD void grow(extent i) {
    const shape dims = rows_.more(i);
    if (i > 0) return detail::keep_rows(all_, i, dims[0]);
    tensor<T> rows(dims);
    swap(rows, all_);
  }
  batch_rows rows_;
  tensor<T> all_;
};

template <>
class collector<std::string> {
 public:
  using type = std::vector<std::string>;
  collector(extent, const no_options&) {}
  void add(extent i, std::string& x, std::size_t) {
    if (i == 0) all_.clear();
    all_.push_back(std::move(x));
  }
  void take(extent, type& to) { to = std::exchange(all_, {}); }

 private:
  type all_;
};

/// Gives a collector the memory of a batch that was there before, if it can use that.
template <class Collector, class Batch>
void reuse(Collector& by, Batch& old) {
  if constexpr (requires { by.reuse(old); }) by.reuse(old);
}

/// Of tuples and pairs. Collectors are bases: a std::tuple of them is twice as much for a compiler.
/// @{
template <std::size_t I, class T>
struct collector_of_part : collector<T> {
  using collector<T>::collector;
};
template <class Row, class Indices, class... T>
class collectors;
template <class Row, std::size_t... I, class... T>
class collectors<Row, std::index_sequence<I...>, T...> : collector_of_part<I, T>... {
 public:
  collectors(extent most, const no_options& options) : collector_of_part<I, T>(most, options)... {}
  void add(extent i, Row& x, std::size_t) { (collector_of_part<I, T>::add(i, std::get<I>(x), I), ...); }
  template <class Batch>
  void take(extent count, Batch& to) {
    (collector_of_part<I, T>::take(count, std::get<I>(to)), ...);
  }
  template <class Batch>
  void reuse(Batch& old) {
    (detail::reuse(static_cast<collector<T>&>(static_cast<collector_of_part<I, T>&>(*this)), std::get<I>(old)), ...);
  }
};
template <class Row, class... T>
using collector_of_parts = collectors<Row, std::index_sequence_for<T...>, T...>;
/// @}
template <class... T>
class collector<std::tuple<T...>> : public collector_of_parts<std::tuple<T...>, T...> {
 public:
  using type = std::tuple<typename collector<T>::type...>;
  collector(extent most, const no_options& options) : collector_of_parts<std::tuple<T...>, T...>(most, options) {}
};
template <class A, class B>
class collector<std::pair<A, B>> : public collector_of_parts<std::pair<A, B>, A, B> {
 public:
  using type = std::pair<typename collector<A>::type, typename collector<B>::type>;
  collector(extent most, const no_options& options) : collector_of_parts<std::pair<A, B>, A, B>(most, options) {}
};

template <class T>
struct can_batch : std::bool_constant<is_number<T> || std::is_same_v<T, std::string>> {};
template <class T>
struct can_batch<tensor<T>> : std::true_type {};
template <class... T>
struct can_batch<std::tuple<T...>> : std::bool_constant<(can_batch<T>::value && ...)> {};
template <class A, class B>
struct can_batch<std::pair<A, B>> : std::bool_constant<can_batch<A>::value && can_batch<B>::value> {};

/// What a batch of elements is; void if there is none.
template <class T>
struct batch_of {
  using type = void;
};
template <class T>
requires can_batch<T>::value struct batch_of<T> {
  using type = typename collector<T>::type;
};

}  // namespace tagma::datasets::detail

#ifndef TAGMA_COMPILED
#include "tagma/data/collector.ipp"
#endif
