// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/training_options.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 4>();

tg::tensor<double> batch(tg::extent rows, double shift = 0) {
  tg::tensor<double> t(tg::shape{rows, 4});
  for (tg::extent i = 0; i < 4 * rows; ++i) t[i] = static_cast<double>(i * 37 % 11) / 4 - 1 + shift;
  return t;
}

template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> all;
  for (const auto& v : list) all.emplace_back(v.name);
  return all;
}
using texts = std::vector<std::string>;

/// Two layers; the first has variables in a scope of its own.
constexpr auto net = [](const auto& in) { return tg::dense<"head", 1>(tg::dense<"body/first", 3>(in, tg::tanh)); };

}  // namespace

TEST_CASE("minimize trains what is chosen, and leaves all other variables as they are", "[training_options]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto head = tg::variable<"head/kernel", double, 3, 1>(tg::glorot_uniform);
  const auto body = tg::variable<"body/first/kernel", double, 4, 3>(tg::glorot_uniform);
  const auto bias = tg::variable<"head/bias", double, 1>(tg::zeros);
  const auto everything = tg::minimize(loss, tg::sgd{0.1});
  const auto one = tg::minimize(loss, tg::sgd{0.1}, head);
  const auto inside = tg::minimize(loss, tg::sgd{0.1}, tg::in_scope<"body">);
  const auto outside = tg::minimize(loss, tg::sgd{0.1}, tg::except_scope<"body">, tg::clip_by_value(-9.0, 9.0));
  const auto both = tg::minimize(loss, tg::sgd{0.1}, tg::in_scope<"head", "body/first">);
  const auto twice = tg::minimize(loss, tg::sgd{0.1}, bias, bias);
  const auto grown = tg::compute_gradients(loss, head, body, bias);
  const auto by_head = std::get<0>(grown).second;
  const auto by_body = std::get<1>(grown).second;
  const auto by_bias = std::get<2>(grown).second;
  tg::session session(tg::compile([=] {
                        return tg::outputs(loss, everything, one, inside, outside, both, twice, head, body, bias,
                                           by_head, by_body, by_bias);
                      }),
                      {.seed = 5});
  const auto in = batch(6);

  struct moved {
    bool head, body, bias;
  };
  const auto check = [&](const auto& train, const moved& expected) {
    const auto [h0, m0, b0, gh, gm, gb] = session.run(tg::fetch(head, body, bias, by_head, by_body, by_bias), x = in);
    session.run(train, x = in);
    const auto [h1, m1, b1] = session.run(tg::fetch(head, body, bias));
    for (tg::extent i = 0; i < 3; ++i) CHECK(h1[i] == Approx(h0[i] - (expected.head ? 0.1 * gh[i] : 0)).epsilon(1e-12));
    for (tg::extent i = 0; i < 12; ++i)
      CHECK(m1[i] == Approx(m0[i] - (expected.body ? 0.1 * gm[i] : 0)).epsilon(1e-12));
    CHECK(b1[0] == Approx(b0[0] - (expected.bias ? 0.1 * gb[0] : 0)).epsilon(1e-12));
  };
  check(everything, {true, true, true});
  check(one, {true, false, false});
  check(inside, {false, true, false});
  check(outside, {true, false, true});
  check(both, {true, true, true});
  check(twice, {false, false, true});  // a variable that is named twice is updated once
}

TEST_CASE("a scope is a whole part of a name, and choices are relative to the scopes around the optimizer",
          "[training_options]") {
  const auto loss = tg::mean(tg::square(tg::dense<"head2", 1>(tg::dense<"head", 3>(x)) - 1.0));
  CHECK(names(tg::trainable_variables(loss)) == texts{"head/kernel", "head/bias", "head2/kernel", "head2/bias"});
  CHECK(names(tg::trainable_variables(loss, tg::in_scope<"head">)) == texts{"head/kernel", "head/bias"});
  CHECK(names(tg::trainable_variables(loss, tg::in_scope<"head/bias">)) == texts{"head/bias"});
  CHECK(names(tg::trainable_variables(loss, tg::except_scope<"head", "head2/bias">)) == texts{"head2/kernel"});
  CHECK(names(tg::trainable_variables(loss, tg::in_scope<"hea">)).empty());
  const auto bias = tg::variable<"head/bias", double, 3>(tg::zeros);
  CHECK(names(tg::trainable_variables(loss, bias)) == texts{"head/bias"});

  const auto train = tg::scope<"a">(tg::minimize(loss, tg::adam{}, tg::in_scope<"head">));
  const auto moved = tg::scope<"a">(bias);
  const auto other = tg::scope<"a">(tg::variable<"head2/bias", double, 1>(tg::zeros));
  const auto count = tg::variable<"a/head/adam/step", std::int64_t>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(train, moved, other, count); }));
  session.run(train, x = batch(3));
  CHECK(session.run(count) == 1);
  CHECK(session.run(moved)[0] != 0);
  CHECK(session.run(other)[0] == 0);
}

TEST_CASE("trainable_variables names what minimize trains, no more", "[training_options]") {
  const auto used = tg::variable<"used", double, 4>(tg::ones);
  const auto stopped = tg::variable<"stopped", double, 4>(tg::ones);
  const auto integers = tg::variable<"integers", std::int32_t>(tg::ones);
  const auto fixed = tg::variable<"fixed", double, 4>(tg::ones, tg::not_trainable);
  const auto loss = tg::mean(x * used * tg::stop_gradient(stopped) * fixed * tg::cast<double>(integers)) +
                    tg::mean(tg::batch_norm<"norm">(x, tg::phase::training));
  CHECK(names(tg::trainable_variables(loss)) == texts{"used", "norm/gamma", "norm/beta"});
  const auto behind = tg::after(tg::assign(stopped, used))(loss);
  CHECK(names(tg::trainable_variables(behind)) == texts{"used", "norm/gamma", "norm/beta"});
}

TEST_CASE("optimizers of several choices count for themselves", "[training_options]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto head = tg::variable<"head/kernel", double, 3, 1>(tg::glorot_uniform);
  const auto a = tg::minimize(loss, tg::adam{}, tg::in_scope<"body">);
  const auto b = tg::minimize(loss, tg::adam{}, tg::except_scope<"body">);
  const auto c = tg::minimize(loss, tg::sgd{}, head);
  const auto bias = tg::variable<"head/bias", double, 1>(tg::zeros);
  const auto e = tg::minimize(loss, tg::sgd{}, head, bias);  // counts in a variable of its own
  const auto d = tg::minimize(loss, tg::adam{}, tg::in_scope<"body", "head/bias">);
  const auto count_a = tg::variable<"body/adam/step", std::int64_t>(tg::zeros, tg::not_trainable);
  const auto count_b = tg::variable<"except.body/adam/step", std::int64_t>(tg::zeros, tg::not_trainable);
  const auto count_c = tg::variable<"head/kernel/sgd/step", std::int64_t>(tg::zeros, tg::not_trainable);
  const auto count_d = tg::variable<"body.head/bias/adam/step", std::int64_t>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(a, b, c, d, e, count_a, count_b, count_c, count_d); }));
  session.run(tg::fetch(a, b), x = batch(3));
  session.run(tg::fetch(a, c), x = batch(3));
  session.run(d, x = batch(3));
  session.run(e, x = batch(3));
  const auto [na, nb, nc, nd] = session.run(tg::fetch(count_a, count_b, count_c, count_d));
  CHECK(na == 2);
  CHECK(nb == 1);
  CHECK(nc == 1);
  CHECK(nd == 1);
}

TEST_CASE("two optimizers over halves of a model do what one over all does", "[training_options]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto whole = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  const auto first = tg::minimize(loss, tg::adam{.learning_rate = 0.05}, tg::in_scope<"body">);
  const auto second = tg::minimize(loss, tg::adam{.learning_rate = 0.05}, tg::in_scope<"head">);
  const auto halves = tg::group(first, second);
  const auto one = tg::compile([=] { return tg::outputs(loss, whole); });
  const auto two = tg::compile([=] { return tg::outputs(loss, halves); });
  tg::session a(one, {.seed = 9});
  tg::session b(two, {.seed = 9});
  for (int i = 0; i < 20; ++i) {
    a.run(whole, x = batch(5, i * 0.1));
    b.run(halves, x = batch(5, i * 0.1));
  }
  CHECK(a.run(loss, x = batch(5)) == b.run(loss, x = batch(5)));
}

TEST_CASE("the learning rate may be fed, or a variable that the program changes", "[training_options]") {
  const auto w = tg::variable<"w", double, 4>(tg::ones);
  const auto loss = tg::sum(w * tg::mean<0>(x));  // the gradient is the mean of the rows
  const auto fed = tg::placeholder<"rate", float>();
  const auto kept = tg::variable<"kept", double>(0.5, tg::not_trainable);
  const auto halve = tg::assign(kept, kept * 0.5);
  const auto by_feed = tg::minimize(loss, tg::sgd{.learning_rate = 77.0}, tg::learning_rate(fed));
  const auto by_variable = tg::minimize(loss, tg::sgd{}, tg::learning_rate(kept), w);
  const auto pairs = tg::apply_gradients(tg::sgd{}, tg::compute_gradients(loss, w), tg::learning_rate(kept * 2.0));
  tg::session session(tg::compile([=] { return tg::outputs(by_feed, by_variable, pairs, halve, w); }));
  const tg::tensor<double> in(tg::shape{1, 4}, {1, 2, 3, 4});
  session.run(by_feed, x = in, fed = 0.25f);
  CHECK(session.run(w)[1] == 1 - 0.25 * 2);
  session.run(by_variable, x = in);
  CHECK(session.run(w)[1] == 0.5 - 0.5 * 2);
  session.run(halve);
  session.run(by_variable, x = in);
  CHECK(session.run(w)[1] == -0.5 - 0.25 * 2);
  session.run(pairs, x = in);
  CHECK(session.run(w)[1] == -1.0 - 0.5 * 2);
}

TEST_CASE("what is left out is looked for behind the loss, whatever else the program has", "[training_options]") {
  const auto loss = tg::mean(tg::square(net(x) - 1.0));
  const auto other = tg::variable<"other/w", double>(tg::ones);
  const auto unrelated = other * 1.0;
  const auto train = tg::minimize(loss, tg::sgd{}, tg::except_scope<"body">);
  tg::session session(tg::compile([=] { return tg::outputs(unrelated, train); }));
  session.run(train, x = batch(2));
}

TEST_CASE("averages wait for what their optimizer waits for, and for nothing else", "[training_options]") {
  const auto count = tg::variable<"count", std::int64_t>(tg::zeros);
  const auto up = tg::assign_add(count, std::int64_t{1});
  const auto hidden = tg::batch_norm<"norm">(tg::dense<"body", 2>(x), tg::phase::training);
  const auto loss = tg::mean(tg::square(hidden - 1.0));
  const auto one = tg::after(up)(tg::minimize(loss, tg::sgd{}));
  const auto two = tg::minimize(loss, tg::adam{});
  const auto moved = tg::update_averages(loss);
  const auto mean = tg::variable<"norm/moving_mean", double, 2>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(one, two, moved, count, mean); }), {.seed = 3});
  double before = 0;
  const auto run = [&](const auto& node, std::int64_t times) {
    session.run(node, x = batch(6));
    CHECK(session.run(count) == times);
    const double now = session.run(mean)[0];
    CHECK(now != before);
    before = now;
  };
  run(two, 0);
  run(moved, 0);
  run(one, 1);
  run(two, 1);
}

TEST_CASE("a layer behind an assignment learns from what was assigned", "[training_options]") {
  const auto in = tg::placeholder<"in", float, 4, 2>();
  const auto kept = tg::variable<"kept", float, 4, 2>(tg::zeros, tg::not_trainable);
  const auto hidden = tg::after(tg::assign(kept, in))(tg::batch_norm<"norm">(kept, tg::phase::training));
  const auto train = tg::minimize(tg::mean(tg::square(hidden - 1.0f)), tg::sgd{});
  const auto mean = tg::variable<"norm/moving_mean", float, 2>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(train, mean); }));
  session.run(train, in = tg::tensor<float>(tg::shape{4, 2}, {1, 10, 2, 20, 3, 30, 6, 100}));
  const auto moved = session.run(mean);
  CHECK(moved[0] == Approx(0.03));
  CHECK(moved[1] == Approx(0.4));
}

TEST_CASE("averages move once for all optimizers that wait for the same, and are read behind that",
          "[training_options]") {
  const auto count = tg::variable<"count", std::int64_t>(tg::zeros);
  const auto up = tg::assign_add(count, std::int64_t{1});
  const auto in = tg::placeholder<"in", float, 4, 2>();
  const auto loss = tg::mean(tg::square(tg::batch_norm<"norm">(in, tg::phase::training) - 1.0f));
  const auto mean = tg::variable<"norm/moving_mean", float, 2>(tg::zeros, tg::not_trainable);
  const auto one = tg::minimize(loss, tg::sgd{});
  const auto two = tg::after(up)(tg::minimize(loss, tg::momentum{}));
  const auto three = tg::minimize(loss, tg::adam{});
  const auto late = tg::after(tg::assign(mean, tg::ones_like(mean) * 5.0f))(tg::minimize(loss, tg::adagrad{}));
  tg::session session(tg::compile([=] { return tg::outputs(one, two, three, late, mean); }));
  const auto batch_of_ones = tg::tensor<float>(tg::shape{4, 2}, {0, 1, 1, 1, 1, 1, 2, 1});
  session.run(tg::fetch(one, three), in = batch_of_ones);
  CHECK(session.run(mean)[0] == Approx(0.01));
  session.run(late, in = batch_of_ones);
  CHECK(session.run(mean)[0] == Approx(5 - 0.01 * 4));
}
