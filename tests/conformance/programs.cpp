// SPDX-License-Identifier: BSL-1.0
#include "conformance/programs.hpp"

namespace {

using namespace tagma::conformance;

struct on_cpu {
  [[nodiscard]] static const device& kernels() { return cpu_device(); }
  template <class Outputs>
  [[nodiscard]] static constexpr auto place(const Outputs& outputs) {
    return tagma::on<tagma::cpu<0>>(outputs);
  }
  [[nodiscard]] static tagma::session_options options() { return {.seed = 1, .intra_op_threads = 2}; }
  static constexpr bool has_strings = true;
};

TEST_CASE("activations and elementary functions in programs") { check_activations<on_cpu>(); }
TEST_CASE("rows and products in programs") { check_rows_and_products<on_cpu>(); }
TEST_CASE("images in programs") { check_images<on_cpu>(); }
TEST_CASE("views in programs") { check_views<on_cpu>(); }

}  // namespace
