// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/softmax.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::scattered;

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 5>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();
static_assert(decltype(tg::sparse_softmax_cross_entropy(x, y))::spec.dims == tg::shape{tg::dyn});
static_assert(tg::diagnose::labels_fit_logits<tg::spec<float, 4, 5>, tg::spec<std::uint8_t, 4>>);
static_assert(!tg::diagnose::labels_fit_logits<tg::spec<float, 4, 5>, tg::spec<float, 4>>);
static_assert(!tg::diagnose::labels_fit_logits<tg::spec<float, 4, 5>, tg::spec<std::uint8_t, 5>>);
static_assert(!tg::diagnose::labels_fit_logits<tg::spec<float, 4, 5>, tg::spec<std::uint8_t, 4, 1>>);

const auto at = scattered<double>({3, 5}, -2, 2);
const tg::tensor<std::int32_t> classes(tg::shape{3}, {0, 4, 2});

TEST_CASE("gradients and second derivatives of softmax and its logarithm") {
  const auto loss = tg::sum(tg::square(tg::softmax(x)) * x) + tg::sum(tg::square(tg::log_softmax(x)));
  const auto slope = tg::gradient(loss, x);
  const auto steepness = tg::sum(tg::square(slope));
  const auto curvature = tg::gradient(steepness, x);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope, steepness, curvature); }));
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), x = v); }, at);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(steepness, curvature), x = v); }, at, 1e-5, 1e-5);
}

TEST_CASE("gradients and second derivatives of cross entropies") {
  const auto loss = tg::sum(tg::square(tg::sparse_softmax_cross_entropy(x, y)));
  const auto slope = tg::gradient(loss, x);
  const auto steepness = tg::sum(tg::square(slope));
  const auto curvature = tg::gradient(steepness, x);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope, steepness, curvature); }));
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), x = v, y = classes); }, at);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(steepness, curvature), x = v, y = classes); }, at, 1e-5, 1e-5);
}

TEST_CASE("the entropy with a class is the entropy with its row of certainty, and knows no other gradient") {
  const auto p = tg::placeholder<"p", double, tg::dyn, 5>();
  const auto sparse = tg::sparse_softmax_cross_entropy(x, y);
  const auto dense = tg::softmax_cross_entropy(x, p);
  const auto sparse_slope = tg::gradient(tg::sum(sparse), x);
  const auto dense_slope = tg::gradient(tg::sum(dense), x);
  tg::session session(tg::compile([=] { return tg::outputs(sparse, dense, sparse_slope, dense_slope); }));
  tg::tensor<double> certain(tg::shape{3, 5});
  for (tg::extent r = 0; r < 3; ++r) certain(r, classes[r]) = 1;
  const auto [a, b, c, d] = session.run(tg::fetch(sparse, dense, sparse_slope, dense_slope), x = at, y = classes, p = certain);
  CHECK(tg::test::distance(a, b) < 1e-14);
  CHECK(tg::test::distance(c, d) < 1e-14);
}

}  // namespace
