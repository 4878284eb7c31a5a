// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/matmul.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::scattered;

template <bool TA, bool TB, class A, class B>
constexpr tg::shape product(const A& a, const B& b) {
  return decltype(tg::matmul<TA, TB>(a, b))::spec.dims;
}
constexpr auto a = tg::placeholder<"a", double, 2, 3>();
constexpr auto b = tg::placeholder<"b", double, 3, 4>();
constexpr auto batch = tg::placeholder<"batch", double, 5, 1, 3, 2>();
constexpr auto rows = tg::placeholder<"rows", double, tg::dyn, 3>();
static_assert(product<false, false>(a, b) == tg::shape{2, 4} && product<true, true>(b, a) == tg::shape{4, 2});
static_assert(product<false, false>(batch, a) == tg::shape{5, 1, 3, 3} && product<false, false>(rows, b) == tg::shape{tg::dyn, 4});
static_assert(!tg::diagnose::inner_extents_agree<tg::spec<float, 784, 300>, tg::spec<float, 200, 10>, false, false>);
static_assert(!tg::diagnose::are_matrices<tg::spec<float, 3>, tg::spec<float, 3, 3>>);
static_assert(!tg::diagnose::batch_extents_broadcast<tg::spec<float, 2, 3, 3>, tg::spec<float, 4, 3, 3>>);

template <bool TA, bool TB, tg::extent... Batch>
void check_gradients() {
  constexpr auto x = [] {
    if constexpr (TA) return tg::placeholder<"x", double, Batch..., 3, 2>();
    else return tg::placeholder<"x", double, Batch..., 2, 3>();
  }();
  constexpr auto y = [] {
    if constexpr (TB) return tg::placeholder<"y", double, 4, 3>();
    else return tg::placeholder<"y", double, 3, 4>();
  }();
  const auto loss = tg::sum(tg::square(tg::matmul<TA, TB>(x, y)));
  const auto by_x = tg::gradient(loss, x);
  const auto by_y = tg::gradient(loss, y);
  tg::session session(tg::compile([=] { return tg::outputs(loss, by_x, by_y); }));
  const auto p = scattered<double>(decltype(x)::spec.dims, -1, 1, 1), q = scattered<double>(decltype(y)::spec.dims, -1, 1, 2);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, by_x), x = v, y = q); }, p);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, by_y), x = p, y = v); }, q);
}

TEST_CASE("gradients of products under every transposition") {
  check_gradients<false, false>();
  check_gradients<true, false>();
  check_gradients<false, true>();
  check_gradients<true, true>();
}

TEST_CASE("gradients of batched products sum over batches that broadcast") {
  check_gradients<false, false, 2>();
  check_gradients<true, true, 2, 2>();
}

TEST_CASE("the curvature of a product of dynamic batches") {
  const auto loss = tg::sum(tg::square(tg::gradient(tg::sum(tg::square(tg::matmul(rows, b))), b)));
  const auto slope = tg::gradient(loss, b);
  tg::session session(tg::compile([=] { return tg::outputs(loss, slope); }));
  for (const tg::extent n : {1, 4}) {
    const auto p = scattered<double>({n, 3}, -1, 1, 1);
    tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), rows = p, b = v); },
                             scattered<double>({3, 4}, -1, 1, 2), 1e-5, 1e-5);
  }
}

TEST_CASE("a dynamic batch does not stretch beside a larger one, neither forward nor in a gradient") {
  constexpr auto some = tg::placeholder<"some", double, tg::dyn, 2, 3>();
  constexpr auto four = tg::placeholder<"four", double, 4, 3, 2>();
  const auto y = tg::matmul(some, four);
  const auto by_some = tg::gradient(tg::sum(y), some);
  tg::session session(tg::compile([=] { return tg::outputs(y, by_some); }));
  const auto one = scattered<double>({1, 2, 3}, -1, 1, 1), all = scattered<double>({4, 2, 3}, -1, 1, 1);
  const auto other = scattered<double>({4, 3, 2}, -1, 1, 2);
  const auto refused = Catch::Contains(": a dynamic extent does not stretch; its inputs are float64 [1, 2, 3] and float64 [4, 3, 2]");
  CHECK_THROWS_WITH(session.run(y, some = one, four = other), refused);
  CHECK_THROWS_WITH(session.run(by_some, some = one, four = other), refused);
  CHECK(session.run(y, some = all, four = other).dims() == tg::shape{4, 2, 2});
  CHECK(session.run(by_some, some = all, four = other).dims() == tg::shape{4, 2, 3});
}

}  // namespace
