// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs of several operations, for every device: extents that vary, a session, a device scope around the whole
/// graph. A device is a type with
///   static const device& kernels()       where the table of operations counts what these programs have run
///   static constexpr auto place(outputs) a scope around the outputs
///   static session_options options()
///   static constexpr bool has_strings

#include <catch2/catch.hpp>
#include <tuple>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"
#include "support/gradient_check.hpp"
#include "support/naive.hpp"
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tagma::conformance {

/// Checks the gradients by `x` of the sums of squares of functions of it, all in one program.
/// @param at what `x` is fed, of several shapes
/// @param f functions from expression to expression
template <class Device, class X, class... F>
void check_functions(const X& x, const std::vector<tensor<double>>& at, const F&... f) {
  const auto losses = std::make_tuple(sum(square(f(x)))...);
  const auto slopes = std::apply([&](const auto&... loss) { return std::make_tuple(gradient(loss, x)...); }, losses);
  session runner(
      std::apply([](const auto&... handle) { return compile([=] { return Device::place(outputs(handle...)); }); },
                 std::tuple_cat(losses, slopes)),
      Device::options());
  const auto one = [&](const auto& loss, const auto& slope, int number) {
    for (const tensor<double>& here : at) {
      INFO(Device::kernels().name() << ": function " << number << " of " << to_string(here.dims()));
      test::check_gradient([&](const tensor<double>& v) { return runner.run(fetch(loss, slope), x = v); }, here, 1e-5,
                           1e-5);
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (one(std::get<I>(losses), std::get<I>(slopes), static_cast<int>(I)), ...);
  }
  (std::index_sequence_for<F...>{});
}

/// Numbers away from the kinks of the functions below, in shapes of every kind.
inline std::vector<tensor<double>> matrices(double low, double high) {
  return {test::scattered<double>({7, 3}, low, high), test::scattered<double>({1, 13}, low, high, 2),
          test::scattered<double>({5, 1}, low, high, 3), test::scattered<double>({0, 3}, low, high)};
}

template <class Device>
void check_activations() {
  constexpr auto x = placeholder<"x", double, dyn, dyn>();
  check_functions<Device>(
      x, matrices(0.1, 1.9), exp, log, sqrt, rsqrt, tanh, softplus, elu, selu, gelu, silu, relu6, hard_sigmoid,
      softsign, leaky_relu, [](const auto& e) { return sin(e) / e; },
      [](const auto& e) { return maximum(e, sum<0>(e, keep_dims) * 0.3); },
      [](const auto& e) { return power(e, 1.5) - mean<1>(e, keep_dims); });
}

template <class Device>
void check_rows_and_products() {
  constexpr auto x = placeholder<"x", double, dyn, dyn>();
  check_functions<Device>(
      x, matrices(0.3, 1.9), softmax, log_softmax, [](const auto& e) { return sum<0>(e); },
      [](const auto& e) { return product<1>(e); }, [](const auto& e) { return matmul<false, true>(e, e); },
      [](const auto& e) { return transpose(cast<double>(e)); },
      [](const auto& e) { return concat<0>(e, e * 2.0, exp(e)); },
      [](const auto& e) { return tile<2, 3>(expand_dims<0>(sum<0>(e))); },
      [](const auto& e) {
        return pad<padding{1, 2}, padding{0, 1}>(e, 0.5);
      },
      [](const auto& e) { return top_k_values<1>(e); });
}

template <class Device>
void check_images() {
  constexpr auto x = placeholder<"x", double, dyn, dyn, dyn, 2>();
  const auto filter = variable<"filter", double, 3, 2, 2, 3>(glorot_uniform);
  constexpr pool_options overlapping{.stride = 1, .padding = same_padding};
  check_functions<Device>(
      x, {test::scattered<double>({2, 5, 4, 2}, -1, 1), test::scattered<double>({1, 3, 7, 2}, -1, 1, 2)},
      [=](const auto& e) { return conv2d(e, filter); }, [=](const auto& e) { return max_pool<2, overlapping>(e); },
      [=](const auto& e) { return average_pool<2, overlapping>(e); },
      [=](const auto& e) {
        return slice<all_of_axis, range{1}, range{0, -1}>(e);
      });
}

/// Values that a kernel has made pass through a view untouched, whatever they are.
template <class Device, class T, class Make>
void check_views_of(const Make& make) {
  const auto half = placeholder<"half", T, dyn, 1, 6>();
  const auto a = concat<0>(half, half);
  const auto shaped = reshape<dyn, 3>(a);
  const auto wider = expand_dims<1>(a);
  const auto narrower = squeeze<1>(a);
  const auto same = identity(a);
  const auto held = stop_gradient(a);
  const auto merged = detail::make_node<op::merge_axes, ir::pack_attributes(2), detail::part<Device, 0>>(a);
  session runner(compile([=] { return Device::place(outputs(shaped, wider, narrower, same, held, merged)); }),
                 Device::options());
  for (const extent n : {1, 7, 0}) {
    tensor<T> values(shape{n, 1, 6});
    for (extent i = 0; i < 6 * n; ++i) values[i] = make(i);
    const auto all = runner.run(fetch(shaped, wider, narrower, same, held, merged), half = values);
    const auto check = [&](const tensor<T>& found, const shape& dims) {
      INFO(Device::kernels().name() << ": view of " << to_string(dtype_of<T>) << " " << to_string(dims));
      REQUIRE(found.dims() == dims);
      extent wrong = 0;
      for (extent i = 0; i < 12 * n; ++i) wrong += found[i] == values[i % (6 * n)] ? 0 : 1;
      CHECK(wrong == 0);
    };
    check(std::get<0>(all), {4 * n, 3});
    check(std::get<1>(all), {2 * n, 1, 1, 6});
    check(std::get<2>(all), {2 * n, 6});
    check(std::get<3>(all), {2 * n, 1, 6});
    check(std::get<4>(all), {2 * n, 1, 6});
    check(std::get<5>(all), {2 * n, 6});
  }
  for (const ir::op_rules* rules :
       {&ir::rules<op::reshape>, &ir::rules<op::expand_dims>, &ir::rules<op::squeeze>, &ir::rules<op::identity>,
        &ir::rules<op::stop_gradient>, &ir::rules<op::merge_axes>})
    for (const signature& types : find_operation(*rules).signatures)
      if (types.element == dtype_of<T>) record_values(Device::kernels(), *rules->info, types);
}

template <class Device>
void check_views() {
  check_views_of<Device, double>([](extent i) { return static_cast<double>(i) / 3; });
  check_views_of<Device, float>([](extent i) { return static_cast<float>(i) / 3; });
  check_views_of<Device, float16>([](extent i) { return float16(static_cast<float>(i)); });
  check_views_of<Device, bfloat16>([](extent i) { return bfloat16(static_cast<float>(i)); });
  check_views_of<Device, std::int64_t>([](extent i) { return (std::int64_t{1} << 60) + i; });
  check_views_of<Device, std::int32_t>([](extent i) { return static_cast<std::int32_t>(i - 7); });
  check_views_of<Device, std::int16_t>([](extent i) { return static_cast<std::int16_t>(i - 7); });
  check_views_of<Device, std::int8_t>([](extent i) { return static_cast<std::int8_t>(i - 7); });
  check_views_of<Device, std::uint8_t>([](extent i) { return static_cast<std::uint8_t>(i + 200); });
  check_views_of<Device, bool>([](extent i) { return i % 3 == 0; });
  if constexpr (Device::has_strings)
    check_views_of<Device, string_element>([](extent i) { return i % 2 == 0 ? "even" : "odd"; });
}

}  // namespace tagma::conformance
