// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Placements as text: what went wrong, in TensorFlow's words, and where each node is.

#include <string>

#include "tagma/base/heap_array.hpp"
#include "tagma/graph/pass/place.hpp"

namespace tagma::ir {

namespace detail {

/// "w", "w/adam_m", or of a node without a name, "matmul #5".
[[nodiscard]] std::string label(const graph_view& g, node_id i);

/// True if devices of type `t` of the set have a kernel for a node.
[[nodiscard]] bool has_kernel(const graph_view& g, const device_set& set, node_id i, std::size_t t);

[[nodiscard]] std::string kernels_text(const graph_view& g, const device_set& set, node_id i);

[[nodiscard]] std::string devices_text(const device_set& set);

/// "matmul: CPU GPU" for a node and the node it is bound to.
[[nodiscard]] std::string group_text(const graph_view& g, const device_set& set, const place_failure& f);

}  // namespace detail

/// The canonical code of a failure.
[[nodiscard]] constexpr status_code code_of(place_problem problem) {
  switch (problem) {
    case place_problem::none:
      return status_code::ok;
    case place_problem::no_devices:
      return status_code::failed_precondition;
    case place_problem::malformed_assignment:
    case place_problem::unknown_assignment:
    case place_problem::assigned_no_kernel:
      return status_code::internal;
    default:
      return status_code::invalid_argument;
  }
}

/// A failure as a sentence; empty if there is none.
[[nodiscard]] std::string to_string(const place_failure& f, const graph_view& g, const device_set& set);

/// A placement in memory of the heap.
struct heap_placement {
  explicit heap_placement(std::size_t nodes) : device(nodes), reason(nodes) {}

  heap_array<std::int16_t> device;  ///< position in the set, -1 where nothing is placed
  heap_array<place_reason> reason;
  place_failure failure;
};

/// Devices of nodes as `place` takes them, by name. A variable that a container has already stays where it is, whatever
/// a scope or a setter asks for in the program of today.
class assigned_devices {
 public:
  /// @param homes of each node the complete name of a device, or nothing
  explicit assigned_devices(array_view<const device_spec> homes);
  assigned_devices(const assigned_devices&) = delete;
  assigned_devices& operator=(const assigned_devices&) = delete;

  [[nodiscard]] array_view<const std::string_view> names() const { return {names_.data(), names_.size()}; }

 private:
  heap_array<std::string> texts_;
  heap_array<std::string_view> names_;
};

/// Places a graph where it runs: for programs that learn their devices when they start. The same function as in the
/// compiler, and the same answer. Throws `no_memory`.
[[nodiscard]] heap_placement place_on_heap(const graph_view& g, array_view<const need> needs, const device_set& devices,
                                           bool soft = false, array_view<const std::string_view> assigned = {});

namespace detail {
[[nodiscard]] std::string placed_text(array_view<const std::int16_t> device, const graph_view& g,
                                      const device_set& set);
}  // namespace detail

/// One line for each node that is placed: "w: (variable): /job:localhost/replica:0/task:0/device:CPU:0".
/// @{
template <std::size_t N>
[[nodiscard]] std::string to_string(const placement<N>& p, const graph_view& g, const device_set& set) {
  return detail::placed_text(p.device, g, set);
}
[[nodiscard]] std::string to_string(const heap_placement& p, const graph_view& g, const device_set& set);
/// @}

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/placement.ipp"
#endif
