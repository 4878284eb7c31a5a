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
class emulated_gpu final : public device::fake::accelerator {
 public:
  using device::fake::accelerator::accelerator;
  [[nodiscard]] owned<device::stream::stream_state> make_state(runtime::stream_ref stream, std::byte* words,
                                                               device::stream::memory_pool& pool) override {
    return make_owned<device::cuda::shared_by_kernels::state>(stream, words, pool);
  }
  [[nodiscard]] std::size_t words_size() const override { return sizeof(device::cuda::run_parameters); }
  void write_words(std::byte* words, const runtime::run_context& context) const override {
    device::cuda::shared_by_kernels::write_words(words, context);
  }
  void check_words(const std::byte* words, const runtime::bound_plan& plan) const override {
    device::cuda::shared_by_kernels::check_words(words, plan);
  }
};

/// Of such sessions.
inline constexpr gpu_options modest_gpu{.memory_fraction = 0.5, .allow_growth = true};

}  // namespace tagma::test

template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph> {
    static constexpr bool exists = true;
    static constexpr std::string_view type = "GPU";
    static constexpr auto kernels = device::cuda::nodes_with_kernel<Graph>;
    template <class Plan>
    [[nodiscard]] static constexpr array_view<const runtime::kernel_entry> entries() {
      return device::cuda::kernel_entries<Plan>;
    }
    [[nodiscard]] static owned<runtime::accelerator> start(const gpu_options& options) {
      if (test::on_gpu()) return make_owned<device::cuda::accelerator>(device::cuda::shared_gpus(), options);
      return make_owned<test::emulated_gpu>(device::fake::machine::current(), options);
    }
  };
