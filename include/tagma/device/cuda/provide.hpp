// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Makes the GPUs of this machine those of all programs of a file.

#include "tagma/device/cuda/accelerator.hpp"
#include "tagma/device/cuda/kernel_table.hpp"

namespace tagma {

/// Programs of a file that includes this know of GPUs.
template <class Graph>
  requires(true)
struct ir::accelerator_of<Graph, 0> {
  static constexpr bool exists = true;
  static constexpr std::string_view type = "GPU";
  static constexpr auto kernels = device::cuda::nodes_with_kernel<Graph>;
  [[nodiscard]] static constexpr bool begins_loop(const op_info& info) { return device::begins_loop(info); }
  template <class Plan>
  [[nodiscard]] static constexpr array_view<const runtime::kernel_entry> entries() {
    return device::cuda::kernel_entries<Plan>;
  }
  [[nodiscard]] static owned<device::stream::accelerator> start(const gpu_options& options) {
    return make_owned<device::cuda::accelerator>(device::cuda::shared_gpus(), options);
  }
};

}  // namespace tagma
