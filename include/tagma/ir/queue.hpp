// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues as attributes of nodes: what tells them apart, and the types and shapes of their components.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"

namespace tagma {

/// The order of a queue: first in, first out; random; the same as the first, with elements that are padded to one
/// shape; or smallest priority first.
enum class queue_kind : unsigned char { fifo, shuffle, padding, priority };

/// What messages call a queue of this kind.
[[nodiscard]] constexpr std::string_view to_string(queue_kind kind) {
  constexpr std::string_view names[] = {"FIFO queue", "random shuffle queue", "padding FIFO queue", "priority queue"};
  return names[static_cast<std::size_t>(kind)];
}

/// What tells queues apart beside their components.
struct queue_options {
  queue_kind kind = queue_kind::fifo;
  extent capacity = -1;          ///< elements; below 0: no limit; 0: whoever enqueues waits for ever
  extent min_after_dequeue = 0;  ///< of a shuffled one that is open: elements that stay, to choose among
  std::uint64_t seed = 0;        ///< of a shuffled one
};

namespace diagnose {
/// A component of a tuple has at most six extents, each a number of elements or `dyn`.
template <class Spec>
inline constexpr bool has_extents = false;
template <class T, extent... Extents>
inline constexpr bool has_extents<spec<T, Extents...>> = sizeof...(Extents) <= max_rank &&
                                                         (true && ... && (Extents >= 0 || Extents == dyn));
}  // namespace diagnose

namespace ir {

/// Of each component: element type, rank, and all extents that there may be.
inline constexpr std::size_t queue_component_words = 2 + max_rank;

/// Writes the words of one component. Returns where the next one begins.
constexpr attribute* write_component(attribute* to, const tensor_spec& s) {
  *to++ = static_cast<attribute>(s.type);
  *to++ = s.dims.rank;
  for (int i = 0; i < max_rank; ++i) *to++ = i < s.dims.rank ? s.dims[i] : 0;
  return to;
}
template <class... Specs>
constexpr void write_components(attribute* to) {
  const tensor_spec all[] = {Specs::value...};
  for (const tensor_spec& s : all) to = write_component(to, s);
}
/// Component `i` of such attributes; of type `none` if there are fewer.
[[nodiscard]] constexpr tensor_spec queue_component(attribute_list components, int i) {
  const std::size_t first = static_cast<std::size_t>(i) * queue_component_words;
  tensor_spec s;
  if (first + queue_component_words > components.size()) return s;
  s.type = static_cast<dtype>(components[first]);
  for (attribute axis = 0; axis < components[first + 1]; ++axis)
    s.dims.push_back(components[first + 2 + static_cast<std::size_t>(axis)]);
  return s;
}

/// Kind, capacity, min_after_dequeue and seed, then the components.
inline constexpr std::size_t queue_option_words = 4;
template <queue_options Options, class... Specs>
inline constexpr auto queue_attributes = [] {
  attributes<queue_option_words + sizeof...(Specs) * queue_component_words> a;
  a.values[0] = static_cast<attribute>(Options.kind);
  a.values[1] = Options.capacity;
  a.values[2] = Options.min_after_dequeue;
  a.values[3] = static_cast<attribute>(Options.seed);
  write_components<Specs...>(a.values + queue_option_words);
  return a;
}();
/// How many elements, the components, and whether fewer will do.
template <extent Count, bool UpTo, class... Specs>
inline constexpr auto dequeue_attributes = [] {
  attributes<2 + sizeof...(Specs) * queue_component_words> a;
  a.values[0] = Count;
  write_components<Specs...>(a.values + 1);
  a.values[1 + sizeof...(Specs) * queue_component_words] = UpTo;
  return a;
}();

/// Takes the words of one component.
constexpr void take_component(auto& t) {
  const attribute_list words = t.rest_of_attributes();
  t.attribute("element type", 1, static_cast<attribute>(tagma::detail::dtype_count) - 1);
  const extent rank = t.attribute("rank", 0, max_rank);
  for (int axis = 0; axis < max_rank; ++axis) t.attribute("extent", axis < rank ? dyn : 0, axis < rank ? INT64_MAX : 0);
  if (t.fine() && words.size() >= queue_component_words)
    t.needs(t.is_tensor(queue_component(words, 0)), "no tensor is as large as a component");
}
/// Takes the words of one to eight components, behind which `behind` attributes are left. Returns them; none if they
/// are refused.
[[nodiscard]] constexpr attribute_list take_components(auto& t, int behind) {
  constexpr auto one = static_cast<int>(queue_component_words);
  const int words = t.rest() - behind;
  t.needs(words > 0 && words % one == 0 && words <= most_outputs * one, "there are one to eight components");
  const attribute_list all = t.rest_of_attributes().first(t.fine() ? words : 0);
  for (int i = 0; t.fine() && i < words / one; ++i) take_component(t);
  return t.fine() ? all : attribute_list{};
}
/// The words of the components of a queue.
[[nodiscard]] constexpr attribute_list components_of_queue(attribute_list queue) {
  return queue.size() < queue_option_words ? attribute_list{} : queue.subspan(queue_option_words);
}
[[nodiscard]] constexpr bool is_priority_queue(attribute_list queue) {
  return !queue.empty() && queue[0] == static_cast<attribute>(queue_kind::priority);
}
[[nodiscard]] constexpr bool same_words(attribute_list a, attribute_list b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = a[i] == b[i];
  return same;
}
/// Takes the queues that are inputs `first` to `first + queues`: of one list of components, and all of them with
/// priorities or none. Returns the attributes of the first.
[[nodiscard]] constexpr attribute_list take_queues(auto& t, int first, int queues) {
  const attribute_list one = t.resource(first, "queue");
  for (int i = 1; t.fine() && i < queues; ++i) {
    const attribute_list other = t.resource(first + i, "queue");
    t.needs(same_words(components_of_queue(one), components_of_queue(other)) &&
                is_priority_queue(one) == is_priority_queue(other),
            "the queues have other components");
  }
  return one;
}
/// True if a component has an open extent; the most axes of one.
[[nodiscard]] constexpr bool has_open_component(attribute_list components) {
  bool open = false;
  for (int i = 0; i < most_outputs; ++i) open = open || !queue_component(components, i).dims.is_static();
  return open;
}
[[nodiscard]] constexpr int most_axes_of_component(attribute_list components) {
  int most = 0;
  for (int i = 0; i < most_outputs; ++i)
    if (const int rank = queue_component(components, i).dims.rank; rank > most) most = rank;
  return most;
}

}  // namespace ir
}  // namespace tagma
