// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/view.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 2, 3, 4>();
constexpr auto d = tg::placeholder<"d", double, tg::dyn, 6>();

template <class E>
constexpr tg::shape dims_of(const E&) {
  return E::spec.dims;
}
static_assert(dims_of(tg::reshape<4, 6>(x)) == tg::shape{4, 6} && dims_of(tg::reshape<tg::dyn, 8>(x)) == tg::shape{3, 8});
static_assert(dims_of(tg::reshape<tg::dyn, 3, 2>(d)) == tg::shape{tg::dyn, 3, 2} && dims_of(tg::reshape<2, 9>(d)) == tg::shape{2, 9});
static_assert(dims_of(tg::flatten(x)) == tg::shape{2, 12} && dims_of(tg::flatten(d)) == tg::shape{tg::dyn, 6});
static_assert(dims_of(tg::expand_dims<0>(x)) == tg::shape{1, 2, 3, 4} && dims_of(tg::expand_dims<-1>(x)) == tg::shape{2, 3, 4, 1});
static_assert(dims_of(tg::expand_dims<-3>(x)) == tg::shape{2, 1, 3, 4});
static_assert(dims_of(tg::squeeze<1>(tg::placeholder<"s", float, 2, 1, 3>())) == tg::shape{2, 3});
static_assert(dims_of(tg::squeeze<-3>(tg::placeholder<"s", float, 1, 1, 3>())) == tg::shape{1, 3});

static_assert(!tg::diagnose::element_counts_agree<tg::spec<float, 4, 5>, 3, 7> && tg::diagnose::element_counts_agree<tg::spec<float, 4, 5>, 20>);
static_assert(!tg::diagnose::element_counts_agree<tg::spec<float, 4>, -1, -1> && !tg::diagnose::element_counts_agree<tg::spec<float, 4>, -2, -2>);
static_assert(tg::diagnose::element_counts_agree<tg::spec<float, 0, 3>, 3, 0> && !tg::diagnose::element_counts_agree<tg::spec<float, 0, 3>, 0, -1>);
static_assert(tg::diagnose::element_counts_agree<tg::spec<float, 1>, 1, 1, 1, 1, 1, 1>);
static_assert(!tg::diagnose::element_counts_agree<tg::spec<float, 1>, 1, 1, 1, 1, 1, 1, 1>);

TEST_CASE("views show the same elements, and views of views do") {
  const auto shown = tg::expand_dims<1>(tg::reshape<6, 4>(tg::identity(x)));
  const auto changed = tg::squeeze<1>(shown) * 2.0;
  tg::session session(tg::compile([=] { return tg::outputs(shown, changed); }));
  const auto in = tg::test::scattered<double>({2, 3, 4}, -1, 1);
  const auto [a, b] = session.run(tg::fetch(shown, changed), x = in);
  CHECK(a.dims() == tg::shape{6, 1, 4});
  for (tg::extent i = 0; i < 24; ++i) CHECK((a[i] == in[i] && b[i] == 2 * in[i]));
}

TEST_CASE("a batch that the new shape does not divide is refused when the program runs") {
  const auto pairs = tg::reshape<tg::dyn, 4>(d);
  const auto fixed = tg::reshape<2, 9>(d);
  tg::session session(tg::compile([=] { return tg::outputs(pairs, fixed); }));
  CHECK(session.run(pairs, d = tg::tensor<double>(tg::shape{4, 6})).dims() == tg::shape{6, 4});
  CHECK(session.run(pairs, d = tg::tensor<double>(tg::shape{0, 6})).dims() == tg::shape{0, 4});
  CHECK_THROWS_WITH(session.run(pairs, d = tg::tensor<double>(tg::shape{3, 6})),
                    Catch::Contains("InvalidArgument: reshape") && Catch::Contains("float64 [3, 6]"));
  CHECK_THROWS_WITH(session.run(fixed, d = tg::tensor<double>(tg::shape{4, 6})), Catch::Contains("another number of elements"));
  CHECK_NOTHROW(session.run(fixed, d = tg::tensor<double>(tg::shape{3, 6})));
}

TEST_CASE("gradients through views, and none through stop_gradient") {
  const auto seen = tg::flatten(tg::expand_dims<2>(x)) * tg::reshape<2, 12>(x);
  const auto loss = tg::sum(tg::square(seen) + seen * tg::flatten(tg::identity(x)));
  const auto slope = tg::gradient(loss, x);
  const auto half = tg::gradient(tg::sum(tg::stop_gradient(x) * x), x);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope, half); }));
  const auto in = tg::test::scattered<double>({2, 3, 4}, -1, 1);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), x = v); }, in);
  CHECK(tg::test::distance(session.run(half, x = in), in) == 0);
}

}  // namespace

TEST_CASE("reshape counts elements without overflow") {
  using s = tg::spec<float, 4, 4>;
  using large = tg::spec<float, INT64_MAX / 2, 3>;
  STATIC_REQUIRE(!tg::diagnose::element_counts_agree<s, INT64_MAX, 2, 4>);
  STATIC_REQUIRE(!tg::diagnose::element_counts_agree<s, 4294967296, 4294967296>);  // 0 where products wrap around
  STATIC_REQUIRE(!tg::diagnose::element_counts_agree<s, 4294967296, 4294967296, tg::dyn>);
  STATIC_REQUIRE(!tg::diagnose::element_counts_agree<large, 16>);
}
