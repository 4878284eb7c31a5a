// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/reduce.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 2, 3, 4>();
constexpr auto d = tg::placeholder<"d", double, tg::dyn, 3>();

template <class E>
constexpr tg::shape dims_of(const E&) {
  return E::spec.dims;
}
static_assert(dims_of(tg::sum(x)) == tg::shape{} && dims_of(tg::sum<1>(x)) == tg::shape{2, 4} &&
              dims_of(tg::sum<-1>(x)) == tg::shape{2, 3});
static_assert(dims_of(tg::sum<0, 2>(x)) == tg::shape{3} &&
              dims_of(tg::sum<0, 2>(x, tg::keep_dims)) == tg::shape{1, 3, 1});
static_assert(dims_of(tg::product<1>(x, tg::keep_dims)) == tg::shape{2, 1, 4} &&
              dims_of(tg::reduce_min<0>(d, tg::keep_dims)) == tg::shape{1, 3});
static_assert(dims_of(tg::mean<0>(d)) == tg::shape{3} && dims_of(tg::mean<1>(d)) == tg::shape{tg::dyn});
static_assert(decltype(tg::argmax(x))::spec == tg::tensor_spec{tg::dtype::int64, {2, 3}});
static_assert(tg::diagnose::axes_exist<tg::spec<float, 2, 3>, 0, -2, 1> &&
              !tg::diagnose::axes_exist<tg::spec<float, 2, 3>, 0, 2>);
static_assert(!tg::diagnose::axes_exist<tg::spec<float>, 0>);

tg::tensor<double> spread_out(const tg::shape& dims) {
  tg::tensor<double> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i)
    t[i] = 0.5 + static_cast<double>((i * 37) % 100) / 40;  // no two alike
  return t;
}

TEST_CASE("gradients of reductions, with and without their axes") {
  const auto shifted = x - tg::mean<1>(x, tg::keep_dims);
  const auto loss = tg::sum(tg::square(tg::sum<1>(shifted * x))) + tg::mean(tg::square(tg::reduce_max<0, 2>(x))) +
                    tg::sum(tg::reduce_min<1>(x) * tg::mean<1>(x)) + tg::sum(tg::product<0>(x)) +
                    tg::sum(tg::square(tg::sum<2>(x, tg::keep_dims) * x)) + tg::product(tg::mean<0, 1>(x)) +
                    tg::sum(tg::square(tg::reduce_min<1>(x, tg::keep_dims)) * x) +
                    tg::sum(tg::sin(tg::product<0, 2>(x, tg::keep_dims) * 0.01) * x);
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope); }));
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), x = v); },
                           spread_out({2, 3, 4}));
}

TEST_CASE("the gradient of a product by an element is the product of the others, also of zeros") {
  const auto v = tg::placeholder<"v", double, tg::dyn, 3>();
  const auto loss = tg::sum(tg::sin(tg::product<1>(v)));
  const auto slope = tg::gradient(loss, v);
  const auto by_product = tg::gradient(tg::sum(tg::product<1>(v)), v);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope, by_product); }));
  const tg::tensor<double> some(tg::shape{4, 3}, {0, 2, 3, 5, 0, 0, 2, 3, 4, 0, 0, 0});
  const double expected[] = {6, 0, 0, 0, 0, 0, 12, 8, 6, 0, 0, 0};
  const auto found = session.run(by_product, v = some);
  for (tg::extent i = 0; i < 12; ++i) CHECK(found[i] == expected[i]);
  tg::test::check_gradient([&](const auto& at) { return session.run(tg::fetch(loss, slope), v = at); }, some);
  // Of halves as well.
  const auto h = tg::placeholder<"h", tg::float16, 3>();
  const auto of_halves = tg::gradient(tg::product(h), h);
  tg::session halves(tg::compile([=] { return tg::outputs(of_halves); }));
  const auto by =
      halves.run(of_halves, h = tg::tensor<tg::float16>({3}, {tg::float16(2), tg::float16(0), tg::float16(3)}));
  CHECK((float(by[0]) == 0 && float(by[1]) == 6 && float(by[2]) == 0));
}

TEST_CASE("second derivatives of products are right at zeros") {
  const auto v = tg::placeholder<"v", double, tg::dyn, 4>();
  const auto weights = tg::placeholder<"weights", double, tg::dyn, 4>();
  const auto slope = tg::gradient(tg::sum(tg::product<1>(v)), v);
  const auto mixed = tg::sum(slope * weights);
  const auto curvature = tg::gradient(mixed, v);
  tg::session session(tg::compile([=] { return tg::outputs(mixed, curvature); }));
  const tg::tensor<double> some(tg::shape{5, 4}, {2, 3, 4, 5, 0, 2, 3, 4, 2, 0, 5, 0, 0, 0, 0, 2, 0, 0, 0, 0});
  const tg::tensor<double> w(tg::shape{5, 4}, {1, -2, 0.5, 3, 2, 1, -1, 0.5, 1, 2, 3, 4, 1, 2, 3, 4, 1, 1, 1, 1});
  tg::test::check_gradient(
      [&](const auto& at) { return session.run(tg::fetch(mixed, curvature), v = at, weights = w); }, some);
}

TEST_CASE("means of float16 are numbers where their sums are not, and infinite with an element") {
  const auto h = tg::placeholder<"h", tg::float16, tg::dyn, 4>();
  const auto all = tg::mean(h);
  const auto columns = tg::mean<0>(h, tg::keep_dims);
  const auto slope = tg::gradient(tg::sum(tg::square(columns)), h);
  tg::session session(tg::compile([=] { return tg::outputs(all, columns, slope); }));
  tg::tensor<tg::float16> tens(tg::shape{70'000, 4});
  for (tg::extent i = 0; i < 280'000; ++i) tens[i] = tg::float16(static_cast<float>(10 + i % 4));
  const auto [mean, each, by] = session.run(tg::fetch(all, columns, slope), h = tens);
  CHECK(static_cast<float>(mean) == 11.5f);
  REQUIRE(each.dims() == tg::shape{1, 4});
  for (tg::extent c = 0; c < 4; ++c) CHECK(static_cast<float>(each[c]) == static_cast<float>(10 + c));
  CHECK(static_cast<float>(by[0]) == Approx(20.0 / 70'000).epsilon(1e-3));
  tens[7] = tg::float16(std::numeric_limits<float>::infinity());
  CHECK(std::isinf(static_cast<float>(session.run(all, h = tens))));
}

TEST_CASE("gradients over a dynamic axis know its extent when the program runs") {
  const auto loss = tg::mean(tg::square(d - tg::mean<0>(d))) + tg::sum(tg::square(tg::mean<1>(d)));
  const auto slope = tg::gradient(loss, d);
  const auto curvature = tg::gradient(tg::sum(tg::square(slope)), d);
  const auto steepness = tg::sum(tg::square(slope));
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope, steepness, curvature); }));
  for (const tg::extent n : {1, 2, 5}) {
    tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), d = v); },
                             spread_out({n, 3}));
    tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(steepness, curvature), d = v); },
                             spread_out({n, 3}));
  }
}

TEST_CASE("reductions of truth values keep their axes") {
  const auto every = tg::all<1>(d > 1.0, tg::keep_dims);
  const auto some = tg::any<0>(d > 1.0, tg::keep_dims);
  tg::session session(tg::compile([=] { return tg::outputs(every, some); }));
  const auto [all, any] = session.run(tg::fetch(every, some), d = tg::tensor<double>({2, 3}, {2, 3, 4, 0, 5, 1}));
  REQUIRE((all.dims() == tg::shape{2, 1} && any.dims() == tg::shape{1, 3}));
  CHECK((all[0] && !all[1] && any[0] && any[1] && any[2]));
}

TEST_CASE("equal extremes share the gradient") {
  const auto slope = tg::gradient(tg::sum(tg::reduce_max<1>(d)), d);
  tg::session session(tg::compile([=] { return tg::outputs(slope); }));
  const auto g = session.run(slope, d = tg::tensor<double>(tg::shape{2, 3}, {5, 5, 1, 2, 3, 3}));
  CHECK((g[0] == 0.5 && g[1] == 0.5 && g[2] == 0 && g[3] == 0 && g[4] == 0.5));
}

}  // namespace
