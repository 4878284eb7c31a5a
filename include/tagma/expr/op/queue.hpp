// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues of tuples as nodes of a graph. A step that waits for a queue holds no thread.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/resource.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/ir/queue.hpp"

namespace tagma {
namespace op {

/// A queue. Its attributes are those of `ir::queue_attributes`.
struct queue : resource {
  static constexpr const char* name = "queue";
  static constexpr void takes(auto& t) {
    t.inputs(0);
    const extent kind = t.attribute("kind", 0, static_cast<extent>(queue_kind::priority));
    const extent capacity = t.attribute("capacity", INT64_MIN, INT64_MAX);
    const extent least = t.attribute("min_after_dequeue", 0, INT64_MAX);
    t.attribute("seed", INT64_MIN, INT64_MAX), t.rule("TAGMA-E222");
    t.needs(least == 0 || (kind == static_cast<extent>(queue_kind::shuffle) && (capacity < 0 || least < capacity)),
            "min_after_dequeue is of a shuffled queue, and less than its capacity");
    t.rule("TAGMA-E220"), (void)ir::take_components(t, 0);
  }
};

/// Adds the other operands to the queue that is input 0: one tuple, or if attribute 0 says so, one for each row. If
/// attribute 1 says so, input 1 is the priority, or one for each row. How many elements that were.
struct enqueue {
  static constexpr const char* name = "enqueue";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  /// Of the queues that are `queues` inputs from `first` on; what is enqueued stands behind them.
  static constexpr void takes_of(auto& t, int first, int queues) {
    t.inputs(first + queues, ir::most_outputs + first + queues + 1);
    const ir::attribute_list queue = ir::take_queues(t, first, queues), all = ir::components_of_queue(queue);
    const bool many = t.flag("many"), priority = t.flag("priority");
    t.needs(priority == ir::is_priority_queue(queue), "a priority is of a priority queue, which needs one");
    const int next = first + queues + priority, given = static_cast<int>(all.size() / ir::queue_component_words);
    t.rule("TAGMA-E223"), t.inputs(next + given);
    if (priority) t.int64_at(next - 1), t.axes(next - 1, many, many);
    for (int i = 0; t.fine() && i < given; ++i) {
      const tensor_spec one = ir::queue_component(all, i), in = t.in(next + i);
      const bool rows = !many || in.dims.rank > 0;
      t.needs(
          rows && in.type == one.type && compatible(many ? in.dims.sub(1, rows ? in.dims.rank : 1) : in.dims, one.dims),
          "the operands need the types and shapes of the components of the queue");
    }
    t.rule("");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, {}};
    return nullptr;
  }
};

/// A tuple of the queue, or several along a new first axis. Attribute 0 is how many, -1 for one without that axis;
/// behind it are the types and shapes of the components.
struct dequeue {
  static constexpr const char* name = "dequeue";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr int outputs = ir::most_outputs;
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  static constexpr void takes_of(auto& t, int first, int queues) { takes_tuples(t, first, queues, {-1, 0, 0, false}); }
  /// What kinds of dequeuing differ in.
  struct form {
    extent least = -1;  ///< tuples
    extent up_to = 0, most_up_to = 0;
    bool open = false;  ///< a component has an open extent
  };
  /// Of the queues that are `queues` inputs from `first` on.
  static constexpr void takes_tuples(auto& t, int first, int queues, const form& f) {
    t.inputs(first + queues);
    const ir::attribute_list queue = ir::take_queues(t, first, queues);
    const extent count = t.attribute("count", f.least, INT64_MAX);
    const ir::attribute_list components = ir::take_components(t, 1);
    const bool up_to = t.attribute("up_to", f.up_to, f.most_up_to) != 0;
    t.needs(ir::same_words(components, ir::components_of_queue(queue)), "the components are not those of the queue");
    if (!t.fine()) return;
    t.needs(count >= 0 || !up_to, "one tuple is no batch");
    t.needs(ir::has_open_component(components) == f.open,
            f.open ? "no component has an open extent" : "a component has an open extent");
    t.rule("TAGMA-E224");
    t.needs(count < 0 || !f.open || queue[0] == static_cast<extent>(queue_kind::padding),
            "elements of open extents form a batch in a padding queue");
    t.rule("TAGMA-E002");
    t.needs(count < 0 || ir::most_axes_of_component(components) < max_rank, "a batch would have seven axes");
    t.rule("");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_with(a, a.attributes[0]); }

  /// What result `a.output` is for `count` elements.
  static constexpr const char* infer_with(ir::infer_args& a, extent count) {
    const tensor_spec one = ir::queue_component(a.attributes.subspan(1, a.attributes.size() - 1), a.output);
    a.out = {one.type, {}};
    if (a.attributes[0] >= 0 && one.dims.rank == max_rank) return "a batch would have seven axes";
    if (a.attributes[0] >= 0 && one.type != dtype::none) a.out.dims.push_back(count);
    for (const extent e : one.dims.span()) a.out.dims.push_back(e);
    if (one.type == dtype::none) a.out = {dtype::int64, {}};  // there are fewer components
    return nullptr;
  }
};

/// Of a queue that closes, as many as there are.
struct dequeue_up_to : dequeue {
  static constexpr const char* name = "dequeue_up_to";
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  static constexpr void takes_of(auto& t, int first, int queues) { takes_tuples(t, first, queues, {0, 1, 1, false}); }
  static constexpr bool late = true;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_with(a, dyn); }
  TAGMA_COLD static constexpr const char* bound(ir::infer_args& a) { return infer_with(a, a.attributes[0]); }
};

/// Of components with open extents. The last attribute tells whether as many as there are will do.
struct dequeue_open : dequeue {
  static constexpr const char* name = "dequeue_open";
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  static constexpr void takes_of(auto& t, int first, int queues) { takes_tuples(t, first, queues, {-1, 0, 1, true}); }
  static constexpr bool late = true;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    return infer_with(a, a.attributes[a.attributes.size() - 1] != 0 ? dyn : a.attributes[0]);
  }
};

/// How many elements the queue has.
struct queue_size {
  static constexpr const char* name = "queue_size";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  static constexpr void takes_of(auto& t, int first, int queues) {
    t.inputs(first + queues), (void)ir::take_queues(t, first, queues);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, {}};
    return nullptr;
  }
};

/// Closes the queue; at once if attribute 0 says so. How many elements it has then.
struct queue_close : queue_size {
  static constexpr const char* name = "queue_close";
  static constexpr void takes(auto& t) { takes_of(t, 0, 1); }
  static constexpr void takes_of(auto& t, int first, int queues) {
    queue_size::takes_of(t, first, queues), t.flag("now");
  }
};

}  // namespace op

namespace diagnose {
/// What is enqueued has the components of the queue.
template <class Own, class Given>
inline constexpr bool are_components = false;
template <class... Own, class... Given>
  requires(sizeof...(Own) == sizeof...(Given))
inline constexpr bool are_components<std::tuple<Own...>, std::tuple<Given...>> =
    (true && ... && (Own::value.type == Given::value.type && compatible(Own::value.dims, Given::value.dims)));
/// Its rows have.
template <class Own, class Given>
inline constexpr bool have_components = false;
template <class... Own, class... Given>
  requires(sizeof...(Own) == sizeof...(Given))
inline constexpr bool have_components<std::tuple<Own...>, std::tuple<Given...>> =
    (true && ... &&
     (Own::value.type == Given::value.type && Given::value.dims.rank == Own::value.dims.rank + 1 &&
      compatible(Own::value.dims, Given::value.dims.sub(1, Given::value.dims.rank))));
/// Several elements have one shape, or are padded.
template <class Queue>
inline constexpr bool form_batches = Queue::forms_batches;
/// A batch has no more axes than tensors have.
template <class Queue>
inline constexpr bool have_room_for_an_axis = Queue::most_axes < max_rank;
}  // namespace diagnose

/// A queue of a container, as programs name it:
///
///     constexpr tg::queue_of<"examples", tg::queue_options{.capacity = 100}, tg::spec<float, 28, 28>> examples;
///     auto put = tg::enqueue(examples, image);
///     auto images = tg::dequeue_many<32>(examples);
///
/// Equal names are one queue, of all sessions over the container.
/// @tparam Specs of the components; with `dyn` each element may have another extent. Up to eight.
/// Raises TAGMA-E002, E160, E220 and E222.
template <fixed_string Name, queue_options Options, class... Specs>
struct queue_of {
  TAGMA_NEEDS_NAME("queue_of", Name);
  static_assert((true && ... && diagnose::has_extents<Specs>),
                "TAGMA-E002 queue_of: a tensor has at most six extents, each a number or tagma::dyn");
  static_assert(sizeof...(Specs) > 0 && sizeof...(Specs) <= ir::most_outputs,
                "TAGMA-E220 queue_of: a tuple has one to eight components");
  static_assert(Options.min_after_dequeue == 0 ||
                    (Options.kind == queue_kind::shuffle && Options.min_after_dequeue > 0 &&
                     (Options.capacity < 0 || Options.min_after_dequeue < Options.capacity)),
                "TAGMA-E222 queue_of: min_after_dequeue is of a shuffled queue, and less than its capacity");

  static constexpr std::string_view name = Name.view();
  static constexpr queue_options options = Options;
  static constexpr bool is_priority = Options.kind == queue_kind::priority;
  static constexpr bool is_open = !(true && ... && Specs::value.dims.is_static());
  static constexpr bool forms_batches = Options.kind == queue_kind::padding || !is_open;
  static constexpr std::size_t components = sizeof...(Specs);
  static constexpr int most_axes = [] {
    int most = 0;
    ((most = Specs::value.dims.rank > most ? Specs::value.dims.rank : most), ...);
    return most;
  }();
  /// What is enqueued: of a priority queue the priority before the components.
  using enqueued = std::conditional_t<is_priority, std::tuple<spec<std::int64_t>, Specs...>, std::tuple<Specs...>>;
  template <extent Count, bool UpTo>
  static constexpr auto attributes = ir::dequeue_attributes<Count, UpTo, Specs...>;

  /// The node that stands for it.
  [[nodiscard]] static constexpr auto handle() {
    return make_resource<op::queue, Name, ir::queue_attributes<Options, Specs...>>();
  }
  /// An operation on it.
  template <class Op, auto Attributes, class Place, expression... E>
  [[nodiscard]] static constexpr auto operation(const E&... e) {
    return make_operation<Op, Attributes, Place>(handle(), e...);
  }
};

namespace detail {

/// Asked by a member, since nvcc finds no specialisation for values of classes.
template <class T>
concept named_queue = requires {
  typename T::enqueued;
};

template <std::size_t Count, class Node, std::size_t... I>
[[nodiscard]] constexpr auto first_results(const Node& all, std::index_sequence<I...>) {
  if constexpr (Count == 1)
    return std::get<0>(all);
  else
    return std::make_tuple(std::get<I>(all)...);
}
template <class Queue, extent Count, bool UpTo, class Place>
[[nodiscard]] constexpr auto take_from(const Queue& q) {
  using tag =
      std::conditional_t<Queue::is_open, op::dequeue_open, std::conditional_t<UpTo, op::dequeue_up_to, op::dequeue>>;
  constexpr auto attributes = Queue::template attributes<Count, UpTo>;
  return first_results<Queue::components>(q.template operation<tag, attributes, Place>(),
                                          std::make_index_sequence<Queue::components>{});
}

}  // namespace detail

/// Adds a tuple. Waits for room; Cancelled if the queue is closed.
/// @param e an expression for each component; of a priority queue the priority before them, int64
/// @return 1, int64
/// Raises TAGMA-E223 for other types or shapes.
template <detail::named_queue Queue, expression... E, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto enqueue(const Queue& q, const E&... e) {
  using given = std::tuple<typename E::spec_type...>;
  static_assert(diagnose::are_components<typename Queue::enqueued, given>,
                "TAGMA-E223 enqueue: the operands need the types and shapes of the components of the queue");
  if constexpr (diagnose::are_components<typename Queue::enqueued, given>)
    return q.template operation<op::enqueue, ir::pack_attributes(false, Queue::is_priority), Place>(e...);
}
/// Adds a tuple for each row, as there is room.
/// @param e [n, component...] for each component; of a priority queue the priorities before them, [n]
/// @return n, int64
/// Raises TAGMA-E223 for rows of other types or shapes.
template <detail::named_queue Queue, expression... E, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto enqueue_many(const Queue& q, const E&... e) {
  using given = std::tuple<typename E::spec_type...>;
  static_assert(diagnose::have_components<typename Queue::enqueued, given>,
                "TAGMA-E223 enqueue_many: the rows of the operands need the types and shapes of the components");
  if constexpr (diagnose::have_components<typename Queue::enqueued, given>)
    return q.template operation<op::enqueue, ir::pack_attributes(true, Queue::is_priority), Place>(e...);
}
/// Takes a tuple: an expression, or a tuple of several. Waits for one; OutOfRange if the queue is closed and empty.
template <detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto dequeue(const Queue& q) {
  return detail::take_from<Queue, -1, false, Place>(q);
}

/// Elements that are taken together have one shape, or are padded.
#define TAGMA_NEEDS_BATCHES(Who, Queue, Count)                                                           \
  static_assert(Count >= 0, "TAGMA-E225 " Who ": takes 0 elements or more");                             \
  static_assert(diagnose::form_batches<Queue>, "TAGMA-E224 " Who                                         \
                                               ": elements of open extents form a batch where they are " \
                                               "padded, in a padding queue");                            \
  static_assert(diagnose::have_room_for_an_axis<Queue>,                                                  \
                "TAGMA-E002 " Who ": a tensor has at most six axes; a batch of components with six would have seven")

/// Takes `Count` tuples: of each component one tensor [Count, component...]. OutOfRange if the queue is closed and has
/// fewer. A padding queue pads them at their ends to the largest.
/// Raises TAGMA-E224 for open components of another queue, TAGMA-E225 for a negative count.
template <extent Count, detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto dequeue_many(const Queue& q) {
  TAGMA_NEEDS_BATCHES("dequeue_many", Queue, Count);
  if constexpr (diagnose::form_batches<Queue> && diagnose::have_room_for_an_axis<Queue> && Count >= 0)
    return detail::take_from<Queue, Count, false, Place>(q);
}
/// Takes `Count` tuples as `dequeue_many`, or where the queue is closed as many as there are, one at least:
/// [n, component...]. OutOfRange if it is closed and empty.
template <extent Count, detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto dequeue_up_to(const Queue& q) {
  TAGMA_NEEDS_BATCHES("dequeue_up_to", Queue, Count);
  if constexpr (diagnose::form_batches<Queue> && diagnose::have_room_for_an_axis<Queue> && Count >= 0)
    return detail::take_from<Queue, Count, true, Place>(q);
}
#undef TAGMA_NEEDS_BATCHES
/// How many elements a queue has, int64.
template <detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto size_of_queue(const Queue& q) {
  return q.template operation<op::queue_size, ir::attributes<0>{}, Place>();
}
/// Closes a queue behind those who wait to enqueue; how many elements it has then, int64. Cancelled if it is closed.
template <detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto close_queue(const Queue& q) {
  return q.template operation<op::queue_close, ir::pack_attributes(false), Place>();
}
/// Closes a queue at once: who waits to enqueue is cancelled.
template <detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Queue)>
[[nodiscard]] constexpr auto close_queue_now(const Queue& q) {
  return q.template operation<op::queue_close, ir::pack_attributes(true), Place>();
}

}  // namespace tagma
