// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/heap_plan.hpp"

#include <catch2/catch.hpp>

#include "conformance/random_functions.hpp"
#include "support/replanned.hpp"
#include "tagma/filter.hpp"
#include "tagma/order.hpp"
#include "tagma/passes.hpp"
#include "tagma/queues.hpp"

namespace {

using tg::test::check_plans;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();
constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();

auto network(const auto& in) { return tg::dense<"out", 4>(tg::dense<"hidden", 16>(in, tg::relu)); }

TEST_CASE("plans of networks and their training") {
  const auto logits = network(x);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto best = tg::argmax(logits);
  const auto sgd = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto adam = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  check_plans(tg::compile([=] { return tg::outputs(loss, best, sgd); }));
  check_plans(tg::compile([=] { return tg::outputs(loss, best, adam); }));
  const auto maps = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(images, tg::relu));
  const auto cost = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"top", 4>(tg::flatten(maps)), labels));
  const auto train = tg::minimize(cost, tg::momentum{.learning_rate = 0.1});
  check_plans(tg::compile([=] { return tg::outputs(cost, train); }));
}

TEST_CASE("plans of several devices, with control dependencies and updates") {
  const auto v = tg::variable<"w", float, 8, 4>(tg::ones);
  const auto there = tg::on<"/device:CPU:1">([](const auto& in, const auto& k) { return tg::matmul(in, k); })(x, v);
  const auto here = tg::on<"/device:CPU:0">([](const auto& in) { return tg::sum(tg::exp(in)); })(there);
  const auto update = tg::assign_add(v, tg::ones_like(v) * here);
  const auto behind = tg::after(update)(tg::sum(v));
  const auto again = tg::on<"/device:CPU:1">([](const auto& k) { return tg::sum(k) * 2.0f; })(update);
  check_plans(tg::compile([=] { return tg::outputs(here, update, behind, again, tg::sum(v)); }));
}

TEST_CASE("plans of loops and branches") {
  const auto cells = tg::lstm<"cells", 6>(series);
  const auto loss = tg::mean(tg::square(tg::dense<"last", 2>(cells) - 1.0f));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  check_plans(tg::compile([=] { return tg::outputs(loss, train); }));
  const auto blocks = tg::repeat<"block", 4>([](const auto& in) { return tg::dense<"layer", 8>(in, tg::tanh); })(x);
  const auto cost = tg::mean(tg::square(blocks));
  const auto learn = tg::minimize(cost, tg::sgd{.learning_rate = 0.1});
  check_plans(tg::compile([=] { return tg::outputs(cost, learn); }));
}

TEST_CASE("plans of extents that kernels find") {
  const auto rows = tg::boolean_mask(series, keep);
  const auto loss = tg::mean(tg::square(tg::dense<"last", 2>(tg::lstm<"cells", 6>(rows)) - 1.0f));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.05});
  check_plans(tg::compile([=] { return tg::outputs(loss, train, tg::reduce_max<0>(rows)); }));
}

TEST_CASE("plans that keep what depends on frozen variables alone") {
  const auto kept = [](const auto& y) {
    check_plans(tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>));
  };
  const auto m = tg::variable<"m", float, 8, 8>(tg::random_normal(0, 0.5));
  const auto product = tg::matmul(m, tg::transpose(m));
  const auto y = tg::tanh(tg::matmul(x, product)) * tg::sum<0>(tg::exp(m));
  kept(y);
  kept(tg::on<"/device:CPU:1">([](const auto& in, const auto& k) { return tg::matmul(in, tg::exp(k)); })(y, product));
  const auto [last, rows] = tg::scan(tg::carry(tg::sum<0>(m) * 0.0f), tg::over(y), [&](const auto& c, const auto& e) {
    const auto next = tg::tanh(tg::reshape<8>(tg::matmul(tg::reshape<1, 8>(c), product)) + e);
    return tg::next(next).emit(next * tg::exp(tg::sum<0>(m)));
  });
  kept(rows + last);
  const auto into = tg::variable<"into", float, 3, 8>(tg::random_normal(0, 0.5));
  const auto found = tg::boolean_mask(tg::reshape<tg::dyn, 3>(series), tg::reshape<tg::dyn>(keep));
  kept(tg::matmul(found, tg::matmul(into, product)));
  kept(tg::sum<0>(tg::cast<float>(tg::nonzero(tg::relu(m)))) * tg::sum(x));
}

template <int Seed>
void check_random() {
  constexpr auto a = tg::placeholder<"a", double, 3>();
  constexpr auto b = tg::placeholder<"b", double, 3>();
  const auto y = tg::sum(random_function<Seed, 2, 1, true>(a, b));
  const auto slope = tg::gradient(y, a);
  check_plans(tg::compile([=] { return tg::outputs(y, slope); }));
}

TEST_CASE("plans of random functions") {
  check_random<1>();
  check_random<2>();
  check_random<3>();
  check_random<5>();
  check_random<8>();
}

}  // namespace
