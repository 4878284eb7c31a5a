// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Makes fake devices the GPUs of all programs of a file.

#include "tagma/device/fake/accelerator.hpp"
#include "tagma/device/fake/data_devices.hpp"
#include "tagma/device/kernel_then_loop.hpp"

namespace tagma {

/// Programs of a file that includes this know of GPUs, which are fake; beside true ones they are called FAKE_GPU.
template <class Graph>
  requires(true)
struct ir::accelerator_of<Graph, 1> {
  static constexpr bool exists = true;
  static constexpr std::string_view type = accelerator_of<Graph, 0>::exists ? "FAKE_GPU" : "GPU";
  static constexpr auto kernels = [] {
    fixed_array<bool, Graph::nodes> result{};
    for (node_id i = 0; i < Graph::view.size(); ++i) result[i] = !needs_host(Graph::view, i);
    return result;
  }();
  [[nodiscard]] static constexpr bool begins_loop(const op_info& info) { return device::begins_loop(info); }
  template <class Plan>
  [[nodiscard]] static constexpr array_view<const runtime::kernel_entry> entries() {
    return runtime::kernel_table<Plan>::entries;
  }

  /// Memory is taken as it is needed: that of a fake device is the host's.
  [[nodiscard]] static owned<device::stream::accelerator> start(gpu_options options) {
    options.allow_growth = true;
    return make_owned<device::fake::accelerator>(device::fake::machine::current(), options, type);
  }
};

template <class Graph>
  requires(true)
struct plan::devices_of_late<Graph, 1> {
  [[nodiscard]] static const runtime::device_kind& kind() { return fake_gpus(); }
};

}  // namespace tagma
