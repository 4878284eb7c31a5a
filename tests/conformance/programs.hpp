// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs of several operations on every device: extents that vary, a session, a device scope around the whole graph.

#include <catch2/catch.hpp>
#include <tuple>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"
#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tagma::conformance {

/// How a program comes to a device: a scope around its outputs, and the options of its session.
struct cpu_programs {
  /// Where the table of operations counts what these programs have run.
  [[nodiscard]] static const device& kernels() { return cpu_device(); }
  template <class Outputs>
  [[nodiscard]] static constexpr auto place(const Outputs& outputs) {
    return on<cpu<0>>(outputs);
  }
  [[nodiscard]] static session_options options() { return {.seed = 1, .intra_op_threads = 2}; }
};

/// All of them; one more line for one more device.
using program_devices = std::tuple<cpu_programs>;

/// Checks the gradients by `x` of the sums of squares of functions of it, all in one program.
/// @param at what `x` is fed, of several shapes
/// @param f functions from expression to expression
template <class Device, class X, class... F>
void check_functions(const X& x, const std::vector<tensor<double>>& at, const F&... f) {
  const auto losses = std::make_tuple(sum(square(f(x)))...);
  const auto slopes = std::apply([&](const auto&... loss) { return std::make_tuple(gradient(loss, x)...); }, losses);
  session session(
      std::apply([](const auto&... handle) { return compile([=] { return Device::place(outputs(handle...)); }); },
                 std::tuple_cat(losses, slopes)),
      Device::options());
  const auto one = [&](const auto& loss, const auto& slope, int number) {
    for (const tensor<double>& here : at) {
      INFO(Device::kernels().name() << ": function " << number << " of " << to_string(here.dims()));
      test::check_gradient([&](const tensor<double>& v) { return session.run(fetch(loss, slope), x = v); }, here, 1e-5,
                           1e-5);
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (one(std::get<I>(losses), std::get<I>(slopes), static_cast<int>(I)), ...);
  }
  (std::index_sequence_for<F...>{});
}

}  // namespace tagma::conformance
