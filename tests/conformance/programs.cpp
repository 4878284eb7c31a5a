// SPDX-License-Identifier: BSL-1.0
#include "conformance/programs.hpp"

#include "support/naive.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
using namespace tagma::conformance;
using tg::test::scattered;

/// Numbers away from the kinks of the functions below, in shapes of every kind.
std::vector<tg::tensor<double>> matrices(double low, double high) {
  return {scattered<double>({7, 3}, low, high), scattered<double>({1, 13}, low, high, 2),
          scattered<double>({5, 1}, low, high, 3), scattered<double>({0, 3}, low, high)};
}

TEMPLATE_LIST_TEST_CASE("activations and elementary functions in programs", "", program_devices) {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn>();
  check_functions<TestType>(
      x, matrices(0.1, 1.9), tg::exp, tg::log, tg::sqrt, tg::rsqrt, tg::tanh, tg::softplus, tg::elu, tg::selu, tg::gelu,
      tg::silu, tg::relu6, tg::hard_sigmoid, tg::softsign, tg::leaky_relu, [](const auto& e) { return tg::sin(e) / e; },
      [](const auto& e) { return tg::maximum(e, tg::sum<0>(e, tg::keep_dims) * 0.3); },
      [](const auto& e) { return tg::power(e, 1.5) - tg::mean<1>(e, tg::keep_dims); });
}

TEMPLATE_LIST_TEST_CASE("rows and products in programs", "", program_devices) {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn>();
  check_functions<TestType>(
      x, matrices(0.3, 1.9), tg::softmax, tg::log_softmax, [](const auto& e) { return tg::sum<0>(e); },
      [](const auto& e) { return tg::product<1>(e); }, [](const auto& e) { return tg::matmul<false, true>(e, e); },
      [](const auto& e) { return tg::transpose(tg::cast<double>(e)); },
      [](const auto& e) { return tg::concat<0>(e, e * 2.0, tg::exp(e)); },
      [](const auto& e) { return tg::tile<2, 3>(tg::expand_dims<0>(tg::sum<0>(e))); },
      [](const auto& e) {
        return tg::pad<tg::padding{1, 2}, tg::padding{0, 1}>(e, 0.5);
      },
      [](const auto& e) { return tg::top_k_values<1>(e); });
}

TEMPLATE_LIST_TEST_CASE("images in programs", "", program_devices) {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn, tg::dyn, 2>();
  const auto filter = tg::variable<"filter", double, 3, 2, 2, 3>(tg::glorot_uniform);
  constexpr tg::pool_options overlapping{.stride = 1, .padding = tg::same_padding};
  check_functions<TestType>(
      x, {scattered<double>({2, 5, 4, 2}, -1, 1), scattered<double>({1, 3, 7, 2}, -1, 1, 2)},
      [=](const auto& e) { return tg::conv2d(e, filter); },
      [=](const auto& e) { return tg::max_pool<2, overlapping>(e); },
      [=](const auto& e) { return tg::average_pool<2, overlapping>(e); },
      [=](const auto& e) {
        return tg::slice<tg::all_of_axis, tg::range{1}, tg::range{0, -1}>(e);
      });
}

/// Values pass through a view untouched, whatever they are.
template <class Device, class T, class Make>
void check_views(const Make& make) {
  const auto a = tg::placeholder<"a", T, tg::dyn, 1, 6>();
  const auto shaped = tg::reshape<tg::dyn, 3>(a);
  const auto wider = tg::expand_dims<1>(a);
  const auto narrower = tg::squeeze<1>(a);
  const auto same = tg::identity(a);
  const auto held = tg::stop_gradient(a);
  tg::session session(tg::compile([=] { return Device::place(tg::outputs(shaped, wider, narrower, same, held)); }),
                      Device::options());
  for (const tg::extent n : {1, 7, 0}) {
    tg::tensor<T> values(tg::shape{n, 1, 6});
    for (tg::extent i = 0; i < 6 * n; ++i) values[i] = make(i);
    const auto all = session.run(tg::fetch(shaped, wider, narrower, same, held), a = values);
    const auto check = [&](const tg::tensor<T>& found, const tg::shape& dims) {
      INFO(Device::kernels().name() << ": view of " << tg::to_string(tg::dtype_of<T>) << " " << tg::to_string(dims));
      REQUIRE(found.dims() == dims);
      tg::extent wrong = 0;
      for (tg::extent i = 0; i < 6 * n; ++i) wrong += found[i] == values[i] ? 0 : 1;
      CHECK(wrong == 0);
    };
    check(std::get<0>(all), {2 * n, 3});
    check(std::get<1>(all), {n, 1, 1, 6});
    check(std::get<2>(all), {n, 6});
    check(std::get<3>(all), {n, 1, 6});
    check(std::get<4>(all), {n, 1, 6});
  }
  for (const tg::ir::op_rules* rules :
       {&tg::ir::rules<op::reshape>, &tg::ir::rules<op::expand_dims>, &tg::ir::rules<op::squeeze>,
        &tg::ir::rules<op::identity>, &tg::ir::rules<op::stop_gradient>})
    for (const signature& types : find_operation(*rules).signatures)
      if (types.element == tg::dtype_of<T>) record_values(Device::kernels(), *rules->info, types);
}

TEMPLATE_LIST_TEST_CASE("views in programs", "", program_devices) {
  using d = TestType;
  check_views<d, double>([](tg::extent i) { return static_cast<double>(i) / 3; });
  check_views<d, float>([](tg::extent i) { return static_cast<float>(i) / 3; });
  check_views<d, tg::float16>([](tg::extent i) { return tg::float16(static_cast<float>(i)); });
  check_views<d, tg::bfloat16>([](tg::extent i) { return tg::bfloat16(static_cast<float>(i)); });
  check_views<d, std::int64_t>([](tg::extent i) { return (std::int64_t{1} << 60) + i; });
  check_views<d, std::int32_t>([](tg::extent i) { return static_cast<std::int32_t>(i - 7); });
  check_views<d, std::int16_t>([](tg::extent i) { return static_cast<std::int16_t>(i - 7); });
  check_views<d, std::int8_t>([](tg::extent i) { return static_cast<std::int8_t>(i - 7); });
  check_views<d, std::uint8_t>([](tg::extent i) { return static_cast<std::uint8_t>(i + 200); });
  check_views<d, bool>([](tg::extent i) { return i % 3 == 0; });
  check_views<d, tg::string_element>([](tg::extent i) { return i % 2 == 0 ? "even" : "odd"; });
}

}  // namespace
