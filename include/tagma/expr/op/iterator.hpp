// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Iterators over datasets as nodes of a graph.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/op/queue.hpp"
#include "tagma/expr/resource.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// An iterator over a dataset. Its attributes are those of an element that is dequeued.
struct iterator : resource {
  static constexpr const char* name = "iterator";
  static constexpr void takes(auto& t) {
    t.inputs(0), t.attribute("count", -1, -1), t.rule("TAGMA-E253");
    (void)ir::take_components(t, 1), t.attribute("up_to", 0, 0);
  }
};

/// The next element of the iterator that is input 0. The attributes are those of `dequeue`.
struct get_next : dequeue {
  static constexpr const char* name = "get_next";
  static constexpr void takes(auto& t) { takes_element(t, false); }
  /// An element of the iterator that is input 0.
  static constexpr void takes_element(auto& t, bool open) {
    t.inputs(1);
    const ir::attribute_list of = t.resource(0, "iterator"), own = t.rest_of_attributes();
    t.attribute("count", -1, -1);
    const ir::attribute_list components = ir::take_components(t, 1);
    t.attribute("up_to", 0, 0);
    t.needs(ir::same_words(own, of), "the components are not those of the iterator");
    t.needs(!t.fine() || ir::has_open_component(components) == open,
            open ? "no component has an open extent" : "a component has an open extent");
  }
};
/// Of components with open extents.
struct get_next_open : dequeue_open {
  static constexpr const char* name = "get_next_open";
  static constexpr void takes(auto& t) { get_next::takes_element(t, true); }
};

}  // namespace op

/// An iterator of a container, as programs name it:
///
///     constexpr tg::iterator_of<"train", tg::spec<float, tg::dyn, 784>, tg::spec<std::uint8_t, tg::dyn>> batches;
///     auto [images, labels] = tg::get_next(batches);
///
/// C++ gives it a dataset by `set_iterator`. Equal names are one iterator, of all sessions over the container: each
/// element is given once.
/// @tparam Specs of the components of an element; with `dyn` each element may have another extent. Up to eight.
/// Raises TAGMA-E002, E160 and E253.
template <fixed_string Name, class... Specs>
struct iterator_of {
  TAGMA_NEEDS_NAME("iterator_of", Name);
  static_assert((true && ... && diagnose::has_extents<Specs>),
                "TAGMA-E002 iterator_of: a tensor has at most six extents, each a number or tagma::dyn");
  static_assert(sizeof...(Specs) > 0 && sizeof...(Specs) <= ir::most_outputs,
                "TAGMA-E253 iterator_of: an element has one to eight components");

  using components = std::tuple<Specs...>;
  static constexpr std::string_view name = Name.view();
  static constexpr bool is_open = !(true && ... && Specs::value.dims.is_static());
  static constexpr auto attributes = ir::dequeue_attributes<-1, false, Specs...>;
  /// The handle of the resource, for operations.
  [[nodiscard]] static constexpr auto handle() { return make_resource<op::iterator, Name, attributes>(); }
};

namespace detail {
/// Asked by members, since nvcc finds no specialisation for values of classes.
template <class T>
concept named_iterator = requires {
  typename T::components;
  T::is_open;
};
}  // namespace detail

/// The next element: an expression, or a tuple of several. One node gives one element in a run, however many read it.
/// FailedPrecondition if the iterator was given no dataset, OutOfRange behind the last element, the error of an element
/// that could not be had; the next run goes on behind that.
template <detail::named_iterator Iterator, class Place = TAGMA_FRESH_TYPE(Iterator)>
[[nodiscard]] constexpr auto get_next(const Iterator& it) {
  using tag = std::conditional_t<Iterator::is_open, op::get_next_open, op::get_next>;
  constexpr auto attributes = Iterator::attributes;
  constexpr std::size_t count = std::tuple_size_v<typename Iterator::components>;
  return detail::first_results<count>(make_operation<tag, attributes, Place>(it.handle()),
                                      std::make_index_sequence<count>{});
}

}  // namespace tagma
