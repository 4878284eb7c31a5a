// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A finished flat graph in memory of the heap: what a process has that runs a graph it was not compiled with.

#include "tagma/base/heap_room.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/graph/flat_graph.hpp"

namespace tagma::ir {

/// The tables of a finished graph and the characters of its names. The rules of its operations are somebody else's.
class heap_graph {
 public:
  heap_graph() = default;
  /// A copy of a graph. Throws `no_memory`.
  explicit heap_graph(const graph_view& g);
  heap_graph(heap_graph&&) = default;
  heap_graph& operator=(heap_graph&&) = default;

  [[nodiscard]] graph_view view() const;
  /// Lets node `id` be fed: it becomes a placeholder of its type. Throws `no_memory`.
  /// @param placeholder the rules of that operation
  void feed(node_id id, const op_rules& placeholder);

 private:
  template <class T>
  static void copy(fixed_array<T, heap_room>& to, array_view<const T> from) {
    to.allocate(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  }
  /// Copies all names into memory of its own.
  void keep_names();

  fixed_array<node, heap_room> nodes_;
  fixed_array<node_id, heap_room> edges_;
  fixed_array<attribute, heap_room> attributes_;
  fixed_array<node_id, heap_room> roots_;
  fixed_array<device_spec, heap_room> requests_;
  fixed_array<loop_info, heap_room> loops_;
  fixed_array<back_edge, heap_room> back_edges_;
  fixed_array<std::int16_t, heap_room> loop_of_;
  fixed_array<std::int32_t, heap_room> numbers_;
  heap_array<char> text_;
};

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/heap_graph.ipp"
#endif
