// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A queue out of a list, by an index that a run knows.

#include "tagma/base/config.hpp"
#include "tagma/expr/literal.hpp"
#include "tagma/expr/op/queue.hpp"

namespace tagma {
namespace op {

/// What `Base` does with the queue that the index, input 0, chooses among those behind it. Attribute 0 is how many
/// these are; the other attributes and inputs are those of `Base`.
template <class Base>
struct chosen : Base {
  using base = Base;
  static constexpr void takes(auto& t) {
    t.inputs(2, INT16_MAX), t.rule("TAGMA-E278");
    t.scalar(0), t.needs(t.in(0).type == dtype::int32 || t.in(0).type == dtype::int64, "the index is int32 or int64");
    t.rule("TAGMA-E279");
    Base::takes_of(t, 1, static_cast<int>(t.attribute("queues", 1, t.count() - 1)));
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_as(a, &Base::infer); }

 protected:
  static constexpr const char* infer_as(ir::infer_args& a, ir::infer_function function) {
    ir::infer_args rest = a;
    rest.attributes = a.attributes.subspan(1);
    const char* const problem = function(rest);
    a.out = rest.out;
    return problem;
  }
};
struct chosen_enqueue : chosen<enqueue> {
  static constexpr const char* name = "chosen_enqueue";
};
struct chosen_dequeue : chosen<dequeue> {
  static constexpr const char* name = "chosen_dequeue";
};
struct chosen_dequeue_up_to : chosen<dequeue_up_to> {
  static constexpr const char* name = "chosen_dequeue_up_to";
  TAGMA_COLD static constexpr const char* bound(ir::infer_args& a) { return infer_as(a, &dequeue_up_to::bound); }
};
struct chosen_dequeue_open : chosen<dequeue_open> {
  static constexpr const char* name = "chosen_dequeue_open";
};
struct chosen_queue_size : chosen<queue_size> {
  static constexpr const char* name = "chosen_queue_size";
};
struct chosen_queue_close : chosen<queue_close> {
  static constexpr const char* name = "chosen_queue_close";
};

}  // namespace op

namespace detail {

template <class Op>
struct chosen_operation;
template <>
struct chosen_operation<op::enqueue> {
  using type = op::chosen_enqueue;
};
template <>
struct chosen_operation<op::dequeue> {
  using type = op::chosen_dequeue;
};
template <>
struct chosen_operation<op::dequeue_up_to> {
  using type = op::chosen_dequeue_up_to;
};
template <>
struct chosen_operation<op::dequeue_open> {
  using type = op::chosen_dequeue_open;
};
template <>
struct chosen_operation<op::queue_size> {
  using type = op::chosen_queue_size;
};
template <>
struct chosen_operation<op::queue_close> {
  using type = op::chosen_queue_close;
};

/// The attributes of an operation behind how many queues there are.
template <std::size_t Queues, auto Attributes>
inline constexpr auto chosen_attributes = [] {
  constexpr std::size_t count = Attributes.list().size();
  ir::attributes<1 + count> a;
  a.values[0] = static_cast<ir::attribute>(Queues);
  for (std::size_t i = 0; i < count; ++i) a.values[1 + i] = Attributes.list()[i];
  return a;
}();

/// Stands for one of the queues, as a `queue_of` does.
template <class Index, class First, class... Rest>
struct queue_in_list {
  static constexpr std::string_view name = "";
  static constexpr bool is_priority = First::is_priority;
  static constexpr bool is_open = First::is_open;
  static constexpr bool forms_batches = (First::forms_batches && ... && Rest::forms_batches);
  static constexpr std::size_t components = First::components;
  static constexpr int most_axes = First::most_axes;
  using enqueued = typename First::enqueued;
  template <extent Count, bool UpTo>
  static constexpr auto attributes = First::template attributes<Count, UpTo>;

  template <class Op, auto Attributes, class Place, expression... E>
  [[nodiscard]] constexpr auto operation(const E&... e) const {
    using tag = typename chosen_operation<Op>::type;
    return make_operation<tag, chosen_attributes<1 + sizeof...(Rest), Attributes>, Place>(index, First::handle(),
                                                                                          Rest::handle()..., e...);
  }

  Index index;
};

template <class T>
struct is_index_of_list : std::is_integral<T> {};
template <expression E>
struct is_index_of_list<E>
    : std::bool_constant<E::spec_type::value.dims.rank == 0 &&
                         (E::spec_type::value.type == dtype::int32 || E::spec_type::value.type == dtype::int64)> {};

}  // namespace detail

namespace diagnose {
/// An index is a number, or a scalar of one.
template <class Index>
inline constexpr bool is_index_of_list = detail::is_index_of_list<Index>::value;
/// Queues have equal components, and priorities or none.
template <class First, class... Rest>
inline constexpr bool are_alike = (true && ... &&
                                   (std::is_same_v<typename First::enqueued, typename Rest::enqueued> &&
                                    First::is_priority == Rest::is_priority));
}  // namespace diagnose

/// The queue at a place of a list, for `enqueue`, `dequeue` and all else that is done with one queue:
///
///     auto q = tg::queue_from_list(which, left, right);
///     auto put = tg::enqueue(q, image);
///
/// Behind the index stand queues of equal components; their kinds and capacities may differ.
/// @param index which one, from 0: a scalar of int32 or int64, or a number
/// Throws, in a run, InvalidArgument for an index that is not in the list, and uses none of the queues then.
/// Raises TAGMA-E278 for another index, TAGMA-E279 for queues of other components.
template <class Index, detail::named_queue First, detail::named_queue... Rest, class Place = TAGMA_FRESH_TYPE(Index)>
[[nodiscard]] constexpr auto queue_from_list(const Index& index, const First&, const Rest&...) {
  static_assert(diagnose::is_index_of_list<Index>,
                "TAGMA-E278 queue_from_list: the index is a scalar of int32 or int64, or a whole number");
  static_assert(diagnose::are_alike<First, Rest...>,
                "TAGMA-E279 queue_from_list: the queues need equal components, and all of them priorities or none");
  if constexpr (diagnose::is_index_of_list<Index> && diagnose::are_alike<First, Rest...>) {
    using own = std::remove_cvref_t<decltype(detail::as_expression<std::int64_t, Place, 0>(index))>;
    return detail::queue_in_list<own, First, Rest...>{detail::as_expression<std::int64_t, Place, 0>(index)};
  }
}

}  // namespace tagma
