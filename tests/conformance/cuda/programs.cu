// SPDX-License-Identifier: BSL-1.0
#include "conformance/programs.hpp"

#include "support/cuda_sessions.hpp"

namespace {

using namespace tagma::conformance;

struct on_cuda_gpu {
  [[nodiscard]] static const device& kernels() { return cuda_device(); }
  template <class Outputs>
  [[nodiscard]] static constexpr auto place(const Outputs& outputs) {
    return tagma::on<tagma::gpu<0>>(outputs);
  }
  [[nodiscard]] static tagma::session_options options() { return {.seed = 1, .gpu = tagma::test::modest_gpu}; }
  static constexpr bool has_strings = false;
};

// Longer programs on a GPU are those of tests/device/cuda/kernel_table.cu: nvcc does not compile check_functions.
TEST_CASE("views in programs of a GPU") { check_views<on_cuda_gpu>(); }

}  // namespace
