// SPDX-License-Identifier: BSL-1.0
#include "conformance/programs.hpp"
#include "tagma/fake_gpu.hpp"

namespace {

using namespace tagma::conformance;

struct on_fake_gpu {
  [[nodiscard]] static const device& kernels() { return fake_gpu_device(); }
  template <class Outputs>
  [[nodiscard]] static constexpr auto place(const Outputs& outputs) {
    return tagma::on<tagma::gpu<0>>(outputs);
  }
  [[nodiscard]] static tagma::session_options options() { return {.seed = 1, .intra_op_threads = 2}; }
  static constexpr bool has_strings = false;
};

/// Programs run on a machine of their own, where they must have left something.
void on_a_machine(void (*check)()) {
  tagma::device::fake::machine current({.memory = std::int64_t{1} << 30});
  check();
  CHECK(current.driver().counts().kernels > 0);
}

TEST_CASE("activations and elementary functions in programs of a fake GPU") {
  on_a_machine(&check_activations<on_fake_gpu>);
}
TEST_CASE("rows and products in programs of a fake GPU") { on_a_machine(&check_rows_and_products<on_fake_gpu>); }
TEST_CASE("images in programs of a fake GPU") { on_a_machine(&check_images<on_fake_gpu>); }
TEST_CASE("views in programs of a fake GPU") { on_a_machine(&check_views<on_fake_gpu>); }

}  // namespace
