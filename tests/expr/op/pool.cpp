// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/pool.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

// All different and more than a step apart, so that no difference quotient crosses a kink.
tg::tensor<double> spread(const tg::shape& dims) {
  tg::tensor<double> t(dims);
  const tg::extent n = dims.elements();
  for (tg::extent i = 0; i < n; ++i) t[i] = static_cast<double>((i * 7919 + 13) % 1009) / 504.5 - 1.0;
  return t;
}

template <class E>
constexpr tg::shape dims_of(const E&) {
  return E::spec.dims;
}

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 27, 6>();

}  // namespace

TEST_CASE("extents of pooling are known to the compiler", "[pool]") {
  static_assert(dims_of(tg::max_pool<2>(images)) == tg::shape{tg::dyn, 14, 13, 6});
  static_assert(dims_of(tg::average_pool<tg::window(3, 2)>(images)) == tg::shape{tg::dyn, 9, 13, 6});
  static_assert(dims_of(tg::max_pool<3, tg::pool_options{.stride = 2, .padding = tg::same_padding}>(images)) ==
                tg::shape{tg::dyn, 14, 14, 6});
  static_assert(dims_of(tg::max_pool<3, tg::pool_options{.stride = 1, .padding = 1}>(images)) ==
                tg::shape{tg::dyn, 28, 27, 6});
  static_assert(dims_of(tg::global_average_pool(images)) == tg::shape{tg::dyn, 6});
  static_assert(dims_of(tg::global_max_pool(images)) == tg::shape{tg::dyn, 6});
  SUCCEED("compiled");
}

TEST_CASE("gradients of pooling are difference quotients, twice", "[pool]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 5, 4, 3>();
  constexpr tg::pool_options overlapping{.stride = {2, 1}, .padding = tg::same_padding};
  const auto check = [&](const auto& pooled) {
    const auto loss = tg::sum(tg::sin(pooled));
    const auto dx = tg::gradient(loss, x);
    const auto steepness = tg::sum(tg::square(dx) * tg::tanh(dx));
    const auto xx = tg::gradient(steepness, x);
    tg::session session(tg::compile([=] { return tg::outputs(loss, dx, steepness, xx); }));
    using value = tg::tensor<double>;
    tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(loss, dx), x = v); },
                             spread({2, 5, 4, 3}));
    tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(steepness, xx), x = v); },
                             spread({2, 5, 4, 3}));
  };
  check(tg::max_pool<2>(x));
  check(tg::max_pool<3, overlapping>(x));
  check(tg::average_pool<tg::window(3, 2), overlapping>(x));
  check(tg::global_average_pool(x));
}
