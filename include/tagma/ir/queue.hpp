// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues as attributes of nodes: what tells them apart, and the types and shapes of their components.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"

namespace tagma {

enum class queue_kind : unsigned char { fifo, shuffle, padding, priority };

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

namespace ir {

/// Of each component: element type, rank, and all extents that there may be.
inline constexpr std::size_t queue_component_words = 2 + max_rank;

template <class... Specs>
constexpr void write_components(attribute* to) {
  const tensor_spec all[] = {Specs::value...};
  for (const tensor_spec& s : all) {
    *to++ = static_cast<attribute>(s.type);
    *to++ = s.dims.rank;
    for (int i = 0; i < max_rank; ++i) *to++ = i < s.dims.rank ? s.dims[i] : 0;
  }
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

}  // namespace ir
}  // namespace tagma
