// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets for the iterators that programs name: `set_iterator(state, batches, digits.batch(128))`.

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/dataset.hpp"
#include "tagma/data/iterate.hpp"
#include "tagma/data/iterator.hpp"
#include "tagma/expr/op/iterator.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/event.hpp"
#include "tagma/runtime/iterator.hpp"

namespace tagma {

namespace datasets::detail {

/// A component of an element as a tensor; `spec` tells its type, and its rank where the compiler knows it.
template <class T>
struct shown {
  static constexpr dtype type = dtype::none;
};
template <element T>
struct shown<T> {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = 0;
  raw_view show(const T& value) { return {&value, type, {}}; }
};
template <>
struct shown<std::string> {
  static constexpr dtype type = dtype::string;
  static constexpr int rank = 0;
  raw_view show(const std::string& value) {
    text = value;
    return {&text, type, {}};
  }
  string_element text;
};
template <class T>
struct shown<tensor<T>> {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = -1;
  raw_view show(const tensor<T>& value) { return erase(value); }
};
template <>
struct shown<std::vector<std::string>> {
  static constexpr dtype type = dtype::string;
  static constexpr int rank = 1;
  raw_view show(const std::vector<std::string>& value) {
    texts.assign(value.begin(), value.end());
    return {texts.data(), type, shape{static_cast<extent>(texts.size())}};
  }
  std::vector<string_element> texts;
};

/// The components of an element: those of a tuple or pair, or itself.
template <class T>
struct components_of {
  using type = std::tuple<T>;
};
template <class T>
  requires is_tuple<T>
struct components_of<T> {
  using type = T;
};

/// True if elements of type T have these components.
template <class T, class Specs>
inline constexpr bool shows = false;
template <class... T, class... Specs>
  requires(sizeof...(T) == sizeof...(Specs))
inline constexpr bool shows<std::tuple<T...>, std::tuple<Specs...>> =
    (true && ... && (shown<T>::type == Specs::value.type && [] {
       if constexpr (requires { shown<T>::rank; })
         return shown<T>::rank < 0 || shown<T>::rank == Specs::value.dims.rank;
       else
         return false;
     }()));
template <class A, class B, class... Specs>
  requires(sizeof...(Specs) == 2)
inline constexpr bool shows<std::pair<A, B>, std::tuple<Specs...>> = shows<std::tuple<A, B>, std::tuple<Specs...>>;

template <class... T>
std::tuple<shown<T>...> shown_as(const std::tuple<T...>&);
template <class A, class B>
std::tuple<shown<A>, shown<B>> shown_as(const std::pair<A, B>&);

template <class T>
struct held final : runtime::held_element {
  void show(raw_view* components) override {
    if constexpr (is_tuple<T>) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((components[I] = std::get<I>(parts).show(std::get<I>(value))), ...);
      }
      (std::make_index_sequence<std::tuple_size_v<T>>{});
    } else {
      components[0] = std::get<0>(parts).show(value);
    }
  }
  T value{};
  decltype(shown_as(std::declval<std::conditional_t<is_tuple<T>, T, std::tuple<T>>>())) parts;
};

template <class T>
class pass_source final : public runtime::element_source {
 public:
  explicit pass_source(dataset_iterator<T> pass) : pass_(std::move(pass)) {}
  [[nodiscard]] owned<runtime::held_element> make_element() const override { return make_owned<held<T>>(); }
  [[nodiscard]] bool next(runtime::held_element& to, const run_limits& limits) override {
    pass_.note_position(before_);
    return pass_.next(static_cast<held<T>&>(to).value, limits);
  }
  [[nodiscard]] std::vector<std::int64_t> position(bool before) const override {
    return before ? pass_.position_of(before_) : pass_.state();
  }

 private:
  dataset_iterator<T> pass_;
  number_list before_;
};

/// A request for which a thread waits.
class awaited_position final : public runtime::element_request {
 public:
  void wait(const runtime::iterator& of);

 private:
  TAGMA_DECL void ended(std::exception_ptr error) noexcept override;
  std::exception_ptr error_;
  runtime::event done_;
};

template <class... Specs>
[[nodiscard]] counted<runtime::resource> find_iterator(const container& in, std::string_view prefix,
                                                       std::string_view own_name,
                                                       std::type_identity<std::tuple<Specs...>>) {
  runtime::check_variable_prefix(prefix);
  const std::string name = runtime::name_in_container(prefix, own_name);
  static constexpr tensor_spec components[] = {Specs::value...};
  const array_view<const tensor_spec> all(components, sizeof...(Specs));
  const container_option state(in);
  counted<runtime::resource> found = state.state()->find_or_add(
      "iterator", name, [&] { return counted<runtime::resource>(new runtime::iterator(name, all)); });
  static_cast<const runtime::iterator&>(*found).check(all);
  return found;
}

template <class Iterator, class T>
pass_watch set_pass(const container& in, std::string_view prefix, const Iterator&, dataset_iterator<T> pass) {
  const auto found =
      detail::find_iterator(in, prefix, Iterator::name, std::type_identity<typename Iterator::components>{});
  pass_watch watch = pass.watch();
  static_cast<runtime::iterator&>(*found).set(make_owned<pass_source<T>>(std::move(pass)));
  return watch;
}

}  // namespace datasets::detail

namespace diagnose {
/// Elements have the components that the iterator declares.
template <class T, class Components>
inline constexpr bool fits_iterator =
    datasets::detail::shows<std::conditional_t<datasets::detail::is_tuple<T>, T, std::tuple<T>>, Components>;
}  // namespace diagnose

#define TAGMA_NEEDS_ELEMENTS                                               \
  static_assert(diagnose::fits_iterator<T, typename Iterator::components>, \
                "TAGMA-E254 set_iterator: the elements of the dataset are not those that the iterator declares")

/// Gives an iterator of a container a dataset: from the next element on, those of a new pass. It may be called again,
/// with another dataset of such elements.
/// @param at a position of this dataset, `iterator_position`, where the pass goes on
/// @param how budgets, and whether the pass is measured, as of `datasets::iterate`
/// @param variable_prefix of the sessions that ask it
/// @return what `explain` tells of a pass that is measured
/// Throws InvalidArgument if the container has another iterator of this name, for a position of another dataset, and
/// for a budget below 0.
/// Raises TAGMA-E254 where elements have other components: numbers and std::string are scalars, vectors of std::string
/// have one axis; the extents of tensors are looked at when they are given.
/// @{
template <detail::named_iterator Iterator, class T>
void set_iterator(const container& in, const Iterator& it, const dataset<T>& of,
                  std::string_view variable_prefix = {}) {
  TAGMA_NEEDS_ELEMENTS;
  if constexpr (diagnose::fits_iterator<T, typename Iterator::components>)
    datasets::detail::set_pass(in, variable_prefix, it, of.iterator());
}
template <detail::named_iterator Iterator, class T, std::same_as<datasets::position> At>  // not of a list in braces
void set_iterator(const container& in, const Iterator& it, const dataset<T>& of, const At& at,
                  std::string_view variable_prefix = {}) {
  TAGMA_NEEDS_ELEMENTS;
  if constexpr (diagnose::fits_iterator<T, typename Iterator::components>)
    datasets::detail::set_pass(in, variable_prefix, it, of.resume(at));
}
template <detail::named_iterator Iterator, class T>
datasets::pass_watch set_iterator(const container& in, const Iterator& it, const dataset<T>& of,
                                  const datasets::pass_options& how, std::string_view variable_prefix = {}) {
  TAGMA_NEEDS_ELEMENTS;
  if constexpr (diagnose::fits_iterator<T, typename Iterator::components>)
    return datasets::detail::set_pass(in, variable_prefix, it, datasets::iterate(of, how));
  else
    return {};
}
template <detail::named_iterator Iterator, class T>
datasets::pass_watch set_iterator(const container& in, const Iterator& it, const dataset<T>& of,
                                  const datasets::pass_options& how, const datasets::position& at,
                                  std::string_view variable_prefix = {}) {
  TAGMA_NEEDS_ELEMENTS;
  if constexpr (diagnose::fits_iterator<T, typename Iterator::components>)
    return datasets::detail::set_pass(in, variable_prefix, it, datasets::iterate(of, how, at));
  else
    return {};
}
/// @}
#undef TAGMA_NEEDS_ELEMENTS

/// Where an iterator is, behind the elements that runs have asked for: a few whole numbers, for `set_iterator` with the
/// same dataset in any process. One that was made for a run that was late or cancelled is not among them.
/// @param variable_prefix of the sessions that ask it
/// Throws FailedPrecondition if it was given no dataset.
template <detail::named_iterator Iterator>
[[nodiscard]] datasets::position iterator_position(const container& in, const Iterator&,
                                                   std::string_view variable_prefix = {}) {
  const auto found = datasets::detail::find_iterator(in, variable_prefix, Iterator::name,
                                                     std::type_identity<typename Iterator::components>{});
  datasets::detail::awaited_position asked;
  auto& iterator = static_cast<runtime::iterator&>(*found);
  iterator.find_position(asked);
  asked.wait(iterator);
  return std::move(asked.position);
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/graph_iterator.ipp"
#endif
