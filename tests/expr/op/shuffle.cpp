// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/shuffle.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

bool is_permutation(const tg::tensor<std::int64_t>& order) {
  std::vector<std::int64_t> sorted(order.begin(), order.end()), all(order.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  return sorted == all;
}

}  // namespace

TEST_CASE("random_permutation: places, runs, seeds, threads, extents that vary") {
  constexpr auto x = tg::placeholder<"x", bool, tg::dyn, 2>();
  const auto fixed = tg::random_permutation<1000>();
  const auto other = tg::random_permutation<1000>();
  const auto varied = tg::random_permutation(x);
  STATIC_REQUIRE(fixed.spec == tg::tensor_spec{tg::dtype::int64, {1000}});
  STATIC_REQUIRE(varied.spec == tg::tensor_spec{tg::dtype::int64, {tg::dyn}});
  STATIC_REQUIRE(!tg::diagnose::is_a_count<-1>);
  const auto program = tg::compile([=] { return tg::outputs(fixed, other, varied); });
  tg::session session(program, {.seed = 7, .intra_op_threads = 1});
  const auto [f, o] = session.run(tg::fetch(fixed, other));
  CHECK(is_permutation(f));
  CHECK(is_permutation(o));
  CHECK(!(f == o));
  CHECK(!(session.run(fixed) == f));
  tg::session again(program, {.seed = 7, .intra_op_threads = 3}), strange(program, {.seed = 8});
  CHECK(again.run(fixed) == f);
  CHECK(!(strange.run(fixed) == f));
  for (const tg::extent n : {0, 1, 5, 300}) {
    const auto drawn = session.run(varied, x = tg::tensor<bool>(tg::shape{n, 2}));
    CHECK(drawn.dims() == tg::shape{n});
    CHECK(is_permutation(drawn));
  }
}

TEST_CASE("random_permutation: all orders of three come about equally often") {
  const auto order = tg::random_permutation<3>();
  const auto program = tg::compile([=] { return tg::outputs(order); });
  tg::session session(program, {.seed = 3});
  int counts[3][3]{};
  for (int run = 0; run < 600; ++run) {
    const auto drawn = session.run(order);
    REQUIRE(is_permutation(drawn));
    ++counts[drawn[0]][drawn[1]];
  }
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) CHECK(counts[a][b] == Approx(a == b ? 0 : 100).margin(a == b ? 0 : 40));
}

TEST_CASE("random_shuffle: rows stay whole, two tensors share an order, gradients go back") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 2>();
  constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();
  const auto shuffled = tg::random_shuffle(x);
  const auto order = tg::random_permutation(x);
  const auto rows = tg::gather(x, order);
  const auto marks = tg::gather(y, order);
  // Every row times the number of its new place.
  const auto loss = tg::sum(tg::square(rows) * tg::cast<double>(tg::expand_dims<1>(order)));
  const auto slope = tg::gradient(loss, x);
  const auto shuffled_slope = tg::gradient(tg::sum(tg::square(shuffled)), x);
  const auto program = tg::compile([=] { return tg::outputs(shuffled, rows, marks, order, slope, shuffled_slope); });
  tg::session session(program, {.seed = 5});
  constexpr tg::extent n = 20;
  tg::tensor<double> in(tg::shape{n, 2});
  tg::tensor<std::int32_t> numbers(tg::shape{n});
  for (tg::extent i = 0; i < n; ++i) {
    in(i, 0) = static_cast<double>(i);
    in(i, 1) = static_cast<double>(-i);
    numbers[i] = static_cast<std::int32_t>(i);
  }
  const auto [s, r, m, o, g, h] =
      session.run(tg::fetch(shuffled, rows, marks, order, slope, shuffled_slope), x = in, y = numbers);
  bool same = true;
  std::vector<std::int64_t> seen;
  for (tg::extent i = 0; i < n; ++i) {
    same = same && s(i, 0) == -s(i, 1) && r(i, 0) == m[i] && m[i] == o[i] && h(i, 0) == 2 * in(i, 0);
    same = same && g(o[i], 1) == 2 * in(o[i], 1) * static_cast<double>(o[i]);
    seen.push_back(static_cast<std::int64_t>(s(i, 0)));
  }
  CHECK(same);
  std::sort(seen.begin(), seen.end());
  for (tg::extent i = 0; i < n; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  CHECK(!(s == in));
  CHECK(!(session.run(shuffled, x = in) == s));
}
