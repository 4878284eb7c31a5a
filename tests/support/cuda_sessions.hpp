// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions on a GPU where there is one. Elsewhere fake streams run the kernels of the GPU on the host. All files of a
/// program that share a graph include this, or none does.

#include "support/cuda.hpp"
#include "tagma/device/cuda/accelerator.hpp"
#include "tagma/device/cuda/kernel_table.hpp"
#include "tagma/device/fake/accelerator.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

/// Kernels of the GPU in streams of the fake one.
using emulated_gpu = device::cuda::with_cuda_kernels<device::fake::accelerator>;

/// Of such sessions.
inline constexpr gpu_options modest_gpu{.memory_fraction = 0.5, .allow_growth = true};

}  // namespace tagma::test

template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 0> {
  static constexpr bool exists = true;
  static constexpr std::string_view type = "GPU";
  static constexpr auto kernels = device::cuda::nodes_with_kernel<Graph>;
  [[nodiscard]] static constexpr bool begins_loop(const op_info& info) { return device::begins_loop(info); }
  template <class Plan>
  [[nodiscard]] static constexpr array_view<const runtime::kernel_entry> entries() {
    return device::cuda::kernel_entries<Plan>;
  }
  [[nodiscard]] static owned<device::stream::accelerator> start(const gpu_options& options) {
    if (test::on_gpu()) return make_owned<device::cuda::accelerator>(device::cuda::shared_gpus(), options);
    return make_owned<test::emulated_gpu>(device::fake::machine::current(), options);
  }
};
