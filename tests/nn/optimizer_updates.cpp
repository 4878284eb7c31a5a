// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/optimizer_updates.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 4>();
constexpr auto net = [](const auto& in) { return tg::dense<"b", 1>(tg::dense<"a", 3>(in, tg::tanh)); };
constexpr auto kernel = tg::variable<"a/kernel", double, 4, 3>(tg::glorot_uniform);
constexpr auto bias = tg::variable<"b/bias", double, 1>(tg::zeros);

tg::tensor<double> rows(std::mt19937& random, tg::extent count) {
  tg::tensor<double> t(tg::shape{count, 4});
  for (tg::extent i = 0; i < 4 * count; ++i) t[i] = static_cast<double>(random() % 2000) / 1000 - 1;
  return t;
}
tg::tensor<double> part(const tg::tensor<double>& whole, tg::extent first, tg::extent count) {
  tg::tensor<double> t(tg::shape{count, 4});
  for (tg::extent i = 0; i < 4 * count; ++i) t[i] = whole[4 * first + i];
  return t;
}

}  // namespace

TEST_CASE("accumulated parts of a batch train as the whole batch does", "[accumulate]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto check = [=](const auto& train, const auto& parts) {
    tg::session one(tg::compile([=] { return tg::outputs(loss, train, kernel, bias); }), {.seed = 2});
    tg::session two(tg::compile([=] { return tg::outputs(loss, parts.add, parts.apply, kernel, bias); }), {.seed = 2});
    std::mt19937 random(77);
    for (int step = 0; step < 12; ++step) {
      const tg::extent count = 1 + static_cast<tg::extent>(random() % 4);
      const auto whole = rows(random, 2 * count);
      one.run(train, x = whole);
      for (tg::extent i = 0; i < count; ++i) two.run(parts.add, x = part(whole, 2 * i, 2));
      two.run(parts.apply);  // nothing is fed
    }
    const auto [k1, b1] = one.run(tg::fetch(kernel, bias));
    const auto [k2, b2] = two.run(tg::fetch(kernel, bias));
    for (tg::extent i = 0; i < 12; ++i) CHECK(k1[i] == Approx(k2[i]).epsilon(1e-10).margin(1e-12));
    CHECK(b1[0] == Approx(b2[0]).epsilon(1e-10).margin(1e-12));
  };
  check(tg::minimize(loss, tg::sgd{0.1}), tg::accumulate(loss, tg::sgd{0.1}));
  check(tg::minimize(loss, tg::adam{0.05}), tg::accumulate(loss, tg::adam{0.05}));
  check(tg::minimize(loss, tg::adagrad{0.05}), tg::accumulate(loss, tg::adagrad{0.05}));
  check(tg::minimize(loss, tg::momentum{0.05}, tg::clip_by_global_norm(0.3)),
        tg::accumulate(loss, tg::momentum{0.05}, tg::clip_by_global_norm(0.3)));
  check(tg::minimize(loss, tg::adam{0.05}, tg::in_scope<"a">), tg::accumulate(loss, tg::adam{0.05}, tg::in_scope<"a">));
  check(tg::minimize(loss, tg::sgd{0.05}, kernel), tg::accumulate(loss, tg::sgd{0.05}, kernel));
}

TEST_CASE("without a part, accumulated training has gradients of zero", "[accumulate]") {
  const auto parts = tg::accumulate(tg::mean(tg::square(net(x) - 1.0)), tg::sgd{0.1});
  const auto count = tg::variable<"accumulated/count", std::int64_t>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(parts.add, parts.apply, kernel, count); }), {.seed = 2});
  const auto before = session.run(kernel);
  session.run(parts.apply);
  session.run(parts.apply);
  const auto after = session.run(kernel);
  for (tg::extent i = 0; i < 12; ++i) CHECK(before[i] == after[i]);
  std::mt19937 random(3);
  session.run(parts.add, x = rows(random, 2));
  session.run(parts.add, x = rows(random, 2));
  CHECK(session.run(count) == 2);
  CHECK(session.run(kernel)[0] == after[0]);  // adding changes no variable that is trained
  session.run(parts.apply);
  CHECK(session.run(count) == 0);
  CHECK(session.run(kernel)[0] != after[0]);
}

TEST_CASE("two halves of a model accumulate for themselves", "[accumulate]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto first = tg::accumulate(loss, tg::sgd{0.1}, tg::in_scope<"a">);
  const auto second = tg::accumulate(loss, tg::sgd{0.1}, tg::in_scope<"b">);
  const auto add_a = first.add;
  const auto apply_a = first.apply;
  const auto add_b = second.add;
  const auto apply_b = second.apply;
  const auto whole = tg::minimize(loss, tg::sgd{0.1});
  tg::session apart(tg::compile([=] { return tg::outputs(add_a, apply_a, add_b, apply_b, kernel, bias); }), {.seed = 2});
  tg::session together(tg::compile([=] { return tg::outputs(whole, kernel, bias); }), {.seed = 2});
  std::mt19937 random(9);
  const auto in = rows(random, 4);
  apart.run(add_a, x = in);
  apart.run(tg::fetch(add_a, add_b), x = in);
  apart.run(tg::fetch(apply_a, apply_b));
  together.run(whole, x = in);
  const auto [k1, b1] = apart.run(tg::fetch(kernel, bias));
  const auto [k2, b2] = together.run(tg::fetch(kernel, bias));
  for (tg::extent i = 0; i < 12; ++i) CHECK(k1[i] == Approx(k2[i]).epsilon(1e-12));
  CHECK(b1[0] == Approx(b2[0]).epsilon(1e-12));
}

TEST_CASE("rows that are looked up accumulate", "[accumulate]") {
  const auto index = tg::placeholder<"index", std::int32_t, tg::dyn>();
  const auto table = tg::variable<"table", float, 4, 2>(tg::ones);
  const auto loss = tg::sum(tg::square(tg::gather(table, index)));
  const auto parts = tg::accumulate(loss, tg::sgd{0.25});
  const auto add = parts.add;
  const auto apply = parts.apply;
  tg::session session(tg::compile([=] { return tg::outputs(add, apply, table); }));
  session.run(add, index = tg::tensor<std::int32_t>(tg::shape{2}, {1, 1}));
  session.run(add, index = tg::tensor<std::int32_t>(tg::shape{1}, {3}));
  session.run(apply);
  const auto got = session.run(table);
  CHECK(got[0] == 1.0f);
  CHECK(got[2] == 1.0f - 0.25f * 4 / 2);
  CHECK(got[6] == 1.0f - 0.25f * 2 / 2);
}

TEST_CASE("a deep model accumulates", "[accumulate]") {
  const auto y = tg::repeat<"block", 40>([](const auto& h) { return tg::dense<"d", 4>(h, tg::tanh); }, tg::unrolled)(x);
  const auto loss = tg::mean(tg::square(y - 1.0));
  const auto parts = tg::accumulate(loss, tg::adam{});
  const auto add = parts.add;
  const auto apply = parts.apply;
  tg::session session(tg::compile([=] { return tg::outputs(loss, add, apply); }), {.seed = 1});
  std::mt19937 random(3);
  const auto in = rows(random, 3);
  const double before = session.run(loss, x = in);
  for (int i = 0; i < 30; ++i) {
    session.run(add, x = in);
    session.run(apply);
  }
  CHECK(session.run(loss, x = in) < before);
}
