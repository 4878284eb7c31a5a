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
  explicit heap_graph(const graph_view& g) {
    copy(nodes_, g.nodes);
    copy(edges_, g.edges);
    copy(attributes_, g.attribute_pool);
    copy(roots_, g.roots);
    copy(requests_, g.requests);
    copy(loops_, g.loops);
    copy(back_edges_, g.back_edges);
    copy(loop_of_, g.loop_of);
    keep_names();
  }
  heap_graph(heap_graph&&) = default;
  heap_graph& operator=(heap_graph&&) = default;

  [[nodiscard]] graph_view view() const {
    return {nodes_, edges_, attributes_, roots_, requests_, loops_, back_edges_, loop_of_};
  }
  /// Lets node `id` be fed: it becomes a placeholder of its type. Throws `no_memory`.
  /// @param placeholder the rules of that operation
  void feed(node_id id, const op_rules& placeholder) {
    node& n = nodes_[id];
    n.op = &placeholder;
    n.inputs = n.controls = n.colocated = n.attribute_count = 0;
    n.value = -1;
  }

 private:
  template <class T>
  static void copy(fixed_array<T, heap_room>& to, array_view<const T> from) {
    to.allocate(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  }
  /// Copies all names into memory of its own.
  void keep_names() {
    std::size_t length = 0;
    for (const node& n : nodes_) length += n.name.size() + n.suffix.size();
    text_.allocate(length);
    char* to = text_.data();
    const auto keep = [&](std::string_view& name) {
      const char* const from = name.data();
      for (std::size_t i = 0; i < name.size(); ++i) to[i] = from[i];
      name = {to, name.size()};
      to += name.size();
    };
    for (node& n : nodes_) keep(n.name), keep(n.suffix);
  }

  fixed_array<node, heap_room> nodes_;
  fixed_array<node_id, heap_room> edges_;
  fixed_array<attribute, heap_room> attributes_;
  fixed_array<node_id, heap_room> roots_;
  fixed_array<device_spec, heap_room> requests_;
  fixed_array<loop_info, heap_room> loops_;
  fixed_array<back_edge, heap_room> back_edges_;
  fixed_array<std::int16_t, heap_room> loop_of_;
  heap_array<char> text_;
};

}  // namespace tagma::ir
