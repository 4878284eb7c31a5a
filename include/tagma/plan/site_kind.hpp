// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices besides CPUs, as the placer of programs that are data knows them.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/graph/local_devices.hpp"

namespace tagma::plan {

/// A kind of devices besides CPUs, as the placer knows it.
struct site_kind {
  std::string_view type;                                   ///< "GPU"
  bool (*has_kernel)(const ir::op_info& op) = nullptr;     ///< asked for what has a step, and needs no host
  bool (*begins_loop)(const ir::op_info& info) = nullptr;  ///< its kernel goes on with a loop; nullptr: none does
};

/// Where a header provides devices on which kernels of the registry run, it specialises this as `ir::accelerator_of`,
/// for the programs that a file compiles late: `kind()` is their `runtime::device_kind`.
template <class Graph, int Number>
struct devices_of_late {};

/// The devices besides CPUs that a file has for the programs it compiles late, as a `Kind`; nullptr: there are none.
template <class Kind, class Graph, int Number = 0>
[[nodiscard]] constexpr const Kind* kind_of_data() {
  if constexpr (requires { devices_of_late<Graph, Number>::kind(); })
    return &devices_of_late<Graph, Number>::kind();
  else if constexpr (Number + 1 < ir::most_kinds)
    return kind_of_data<Kind, Graph, Number + 1>();
  else
    return nullptr;
}

}  // namespace tagma::plan
