// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices of one process without others, and the placement of a plan on them.

#include "tagma/graph/pass/place.hpp"

namespace tagma::ir {

inline constexpr device_spec local_device_names[] = {{device_text("localhost"), 0, 0, device_text("CPU"), 0}};
inline constexpr device_text local_device_types[] = {device_text("CPU")};

/// One CPU. Whether it has a kernel is asked later, where kernels are picked, for all operations at once.
inline constexpr device_set local_devices{local_device_names,
                                          local_device_types,
                                          [](const op_info&, dtype, std::string_view type) { return type == "CPU"; },
                                          {device_text("localhost"), 0, 0, {}, -1}};

/// The placement of a program without device scopes: everything is on the only device.
struct single_placement {
  place_failure failure;

  [[nodiscard]] constexpr array_view<const std::int16_t> devices() const { return {}; }
  [[nodiscard]] constexpr const place_reason* reasons() const { return nullptr; }
};

/// Where the nodes of a plan run. Programs without device scopes do not ask the placer.
template <class Graph, std::size_t N>
[[nodiscard]] constexpr auto place_locally([[maybe_unused]] const fixed_array<need, N>& needs) {
  if constexpr (Graph::requests > 0) {
    placement<N> p = place<N>(Graph::view, needs, local_devices);
    // A type without any kernel has none for the node in question either.
    place_failure& f = p.failure;
    const bool has_kernels = f.asked.type.empty() || f.asked.type == local_device_types[0];
    if (f.problem == place_problem::no_such_device && !has_kernels) f.problem = place_problem::no_kernel_there;
    return p;
  } else {
    return single_placement{};
  }
}

}  // namespace tagma::ir
