// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/train.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string_view>
#include <tuple>
#include <vector>

#include "support/graphs.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::test::count_of;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 3>();
constexpr auto z = tg::placeholder<"z", double, tg::dyn, 3>();
/// What the layer "norm" keeps.
constexpr auto kept = tg::variable<"norm/moving_mean", double, 3>(tg::zeros, tg::not_trainable);
constexpr auto spread = tg::variable<"norm/moving_variance", double, 3>(tg::ones, tg::not_trainable);

constexpr auto norm = [](const auto& in) { return tg::batch_norm<"norm">(in, tg::phase::training, 0.5); };

const tg::tensor<double> two(tg::shape{2, 3}, {1, 2, 3, 3, 2, 7});        // means 2, 2, 5, variances 1, 0, 4
const tg::tensor<double> high(tg::shape{2, 3}, {8, 10, 12, 16, 10, 12});  // means 12, 10, 12

}  // namespace

TEST_CASE("who trains a layer moves its averages, in whatever way it trains", "[train]") {
  const auto loss = tg::mean(tg::square(norm(x) - 1.0));
  const auto gamma = tg::variable<"norm/gamma", double, 3>(tg::ones);
  const auto beta = tg::variable<"norm/beta", double, 3>(tg::zeros);
  const auto check = [=](const auto& train) {
    tg::session session(tg::compile([=] { return tg::outputs(train, kept, spread); }));
    session.run(train, x = two);
    const auto [mean, variance] = session.run(tg::fetch(kept, spread));
    CHECK(mean[0] == 1);
    CHECK(mean[1] == 1);
    CHECK(mean[2] == 2.5);
    CHECK(variance[0] == 1);
    CHECK(variance[1] == 0.5);
    CHECK(variance[2] == 2.5);
    session.run(train, x = two);
    CHECK(session.run(kept)[2] == 3.75);
  };
  check(tg::minimize(loss, tg::sgd{}));
  check(tg::minimize(loss, tg::adam{}, tg::clip_by_global_norm(1.0)));
  check(tg::minimize(loss, tg::sgd{}, beta));
  check(tg::minimize(loss, tg::sgd{}, tg::in_scope<"norm">));
  check(tg::apply_gradients(tg::sgd{}, tg::compute_gradients(loss, gamma)));
  check(tg::accumulate(loss, tg::sgd{}).add);
  check(tg::update_averages(loss));
  check(tg::update_averages(norm(x)));
  // Two that are fetched in one run move them once: it is one layer.
  check(tg::group(tg::minimize(loss, tg::sgd{}), tg::minimize(loss * 2.0, tg::momentum{}, gamma)));
  check(tg::on<"/device:CPU:0">(tg::minimize(loss, tg::sgd{})));
}

TEST_CASE("inside of scopes of names the averages of that scope move", "[train]") {
  const auto loss = tg::mean(tg::square(norm(x) - 1.0));
  const auto train = tg::scope<"a">(tg::minimize(loss, tg::sgd{}));
  const auto inner = tg::scope<"a">(kept);
  tg::session session(tg::compile([=] { return tg::outputs(train, inner, kept); }));
  session.run(train, x = two);
  CHECK(session.run(inner)[0] == 1);
  CHECK(session.run(kept)[0] == 0);
}

TEST_CASE("who does not train a layer leaves its averages", "[train]") {
  SECTION("another part is chosen") {
    const auto h = norm(x);
    const auto loss = tg::mean(tg::square(tg::dense<"out", 1>(h)));
    const auto train = tg::minimize(loss, tg::sgd{}, tg::in_scope<"out">);
    tg::session session(tg::compile([=] { return tg::outputs(train, kept); }));
    session.run(train, x = two);
    CHECK(session.run(kept)[0] == 0);
  }
  SECTION("what stands before it is a variable that is trained") {
    const auto w = tg::variable<"w", double, 2, 3>(tg::glorot_uniform);
    const auto train = tg::minimize(tg::mean(tg::square(norm(w) - 1.0)), tg::sgd{}, w);
    tg::session session(tg::compile([=] { return tg::outputs(train, kept); }));
    session.run(train);
    CHECK(session.run(kept)[0] == 0);
  }
  SECTION("it is not behind the loss, though another use of it is") {
    const auto loss = tg::mean(tg::square(norm(x) - 1.0));
    const auto other = norm(z);
    const auto train = tg::minimize(loss, tg::sgd{});
    tg::session session(tg::compile([=] { return tg::outputs(other, train, kept); }));
    session.run(train, x = two);  // needs no z
    CHECK(session.run(kept)[0] == 1);
  }
  SECTION("it is applied without a batch") {
    const auto parts = tg::accumulate(tg::mean(tg::square(norm(x) - 1.0)), tg::sgd{});
    tg::session session(tg::compile([=] { return tg::outputs(parts.add, parts.apply, kept); }));
    session.run(parts.add, x = two);
    session.run(parts.apply);
    CHECK(session.run(kept)[0] == 1);
  }
}

TEST_CASE("a layer that is used twice moves its averages by both batches, in their order", "[train]") {
  const auto loss = tg::mean(tg::square(norm(x) - 1.0)) + tg::mean(tg::square(norm(z) - 2.0));
  const auto train = tg::minimize(loss, tg::sgd{});
  tg::session session(tg::compile([=] { return tg::outputs(train, kept); }));
  session.run(train, x = two, z = high);
  const auto mean = session.run(kept);
  CHECK(mean[0] == (0 + 2) / 2.0 / 2 + 12 / 2.0);
  CHECK(mean[1] == (0 + 2) / 2.0 / 2 + 10 / 2.0);

  SECTION("two optimizers that see one of them each do not wait for one another") {
    const auto first = tg::minimize(tg::mean(tg::square(norm(x) - 1.0)), tg::sgd{});
    const auto second = tg::minimize(tg::mean(tg::square(norm(z) - 1.0)), tg::sgd{});
    tg::session apart(tg::compile([=] { return tg::outputs(first, second, kept); }));
    apart.run(second, z = high);
    CHECK(apart.run(kept)[0] == 6);
    apart.run(first, x = two);
    CHECK(apart.run(kept)[0] == 4);
  }
}

TEST_CASE("two optimizers that are fetched together move the averages of a layer that is used twice in order",
          "[train]") {
  const auto loss = tg::mean(tg::square(norm(x) - 1.0)) + tg::mean(tg::square(norm(z) - 2.0));
  const auto gamma = tg::variable<"norm/gamma", double, 3>(tg::ones);
  const auto beta = tg::variable<"norm/beta", double, 3>(tg::zeros);
  const auto check = [=](const auto& train) {
    tg::session session(tg::compile([=] { return tg::outputs(train, kept); }));
    session.run(train, x = two, z = high);
    CHECK(session.run(kept)[0] == (0 + 2) / 2.0 / 2 + 12 / 2.0);
  };
  check(tg::group(tg::minimize(loss, tg::sgd{}, gamma), tg::minimize(loss, tg::adam{}, beta)));
  check(tg::group(tg::minimize(loss, tg::sgd{}), tg::minimize(loss * 2.0, tg::momentum{})));
  check(tg::group(tg::minimize(loss, tg::sgd{}), tg::update_averages(loss)));
}

TEST_CASE("an optimizer and its updates wait for what it is put behind", "[train]") {
  const auto w = tg::variable<"w", double>(tg::ones);
  const auto calls = tg::variable<"calls", double>(tg::zeros, tg::not_trainable);
  const auto counted = tg::assign_add(calls, 1.0);
  SECTION("it is done, and what is before it") {
    const auto train = tg::after(counted)(tg::minimize(w * 2.0, tg::sgd{.learning_rate = 0.25}));
    tg::session session(tg::compile([=] { return tg::outputs(train, w, calls); }));
    session.run(train);
    CHECK(session.run(calls) == 1);
    CHECK(session.run(w) == 0.5);
  }
  SECTION("a value that is assigned before is the one that is updated") {
    const auto reset = tg::assign(w, 5.0);
    const auto train = tg::after(reset)(tg::minimize(w * 2.0, tg::sgd{.learning_rate = 0.25}));
    tg::session session(tg::compile([=] { return tg::outputs(train, w); }));
    session.run(train);
    CHECK(session.run(w) == 4.5);
  }
  SECTION("parts are applied behind the last") {
    const auto parts = tg::accumulate(w * 2.0, tg::sgd{.learning_rate = 0.25});
    const auto last = tg::after(parts.add)(parts.apply);
    tg::session session(tg::compile([=] { return tg::outputs(parts.add, last, w); }));
    session.run(parts.add);
    session.run(last);
    CHECK(session.run(w) == 0.5);
    session.run(last);
    CHECK(session.run(w) == 0);
  }
  SECTION("averages that are assigned before") {
    const auto reset = tg::assign(kept, tg::ones_like(kept) * 100.0);
    const auto h = tg::after(reset)(norm(x));
    const auto train = tg::minimize(tg::mean(tg::square(h - 1.0)), tg::sgd{});
    tg::session session(tg::compile([=] { return tg::outputs(train, kept); }));
    session.run(train, x = two);
    CHECK(session.run(kept)[0] == 51);
  }
}

TEST_CASE("a layer in a loop that the loss does not depend on is no matter", "[train]") {
  const auto loss = tg::mean(tg::square(norm(x) - 1.0));
  const auto other = tg::repeat<"block", 3>(norm)(z);
  const auto train = tg::minimize(loss, tg::sgd{});
  const auto both = tg::compile([=] { return tg::outputs(other, train, kept); });
  tg::session session(both);
  session.run(train, x = two);
  CHECK(session.run(kept)[0] == 1);
}

TEST_CASE("a layer behind something else, or on another device, moves its averages once", "[train]") {
  SECTION("after an update") {
    const auto calls = tg::variable<"calls", double>(tg::zeros, tg::not_trainable);
    const auto h = tg::after(tg::assign_add(calls, 1.0))(norm(x));
    const auto train = tg::minimize(tg::mean(tg::square(h - 1.0)), tg::sgd{});
    tg::session session(tg::compile([=] { return tg::outputs(train, kept, calls); }));
    session.run(train, x = two);
    CHECK(session.run(kept)[0] == 1);
    CHECK(session.run(calls) == 1);
  }
  SECTION("in a device scope") {
    const auto h = tg::on<"/device:CPU:1">(norm)(x);
    const auto train = tg::minimize(tg::mean(tg::square(h - 1.0)), tg::sgd{});
    const auto program = tg::compile([=] { return tg::outputs(train, kept); });
    CHECK(count_of(program, "moments") == 1);
    tg::session session(program, {.cpu_devices = 2});
    session.run(train, x = two);
    CHECK(session.run(kept)[0] == 1);
  }
}

TEST_CASE("a block that is written out moves the averages of each copy", "[train]") {
  const auto block = [](const auto& h) { return tg::batch_norm<"norm">(h * 2.0, tg::phase::training, 0.5); };
  const auto y = tg::repeat<"block", 2>(block, tg::unrolled)(x);
  const auto train = tg::minimize(tg::mean(tg::square(y - 1.0)), tg::sgd{});
  const auto first = tg::variable<"block_0/norm/moving_mean", double, 3>(tg::zeros, tg::not_trainable);
  const auto second = tg::variable<"block_1/norm/moving_variance", double, 3>(tg::ones, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(train, first, second); }));
  session.run(train, x = two);
  CHECK(session.run(first)[0] == 2);                           // the mean of twice the input is 4
  CHECK(session.run(second)[1] == 0.5);                        // a channel without deviation
  CHECK(session.run(second)[0] == Approx(2.5).epsilon(0.01));  // normalised, and twice that
}

// Random networks of dense and batch_norm layers, of which a random part is trained: what moves, and by how much.
TEST_CASE("random choices of layers move their own averages and no others", "[train]") {
  const auto h1 = tg::batch_norm<"n1">(tg::dense<"d1", 3>(x), tg::phase::training, 0.5);
  const auto h2 = tg::batch_norm<"n2">(tg::dense<"d2", 3>(tg::relu(h1)), tg::phase::training, 0.5);
  const auto h3 = tg::batch_norm<"n3">(h1 + h2, tg::phase::training, 0.5);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 1>(h3) - 1.0));
  const auto a = tg::minimize(loss, tg::sgd{1e-9}, tg::in_scope<"n1", "d2">);
  const auto b = tg::minimize(loss, tg::sgd{1e-9}, tg::except_scope<"n1", "d1">);
  const auto c = tg::minimize(loss, tg::sgd{1e-9});
  const auto d = tg::minimize(loss, tg::sgd{1e-9}, tg::in_scope<"n3">);
  const auto m1 = tg::variable<"n1/moving_variance", double, 3>(tg::ones, tg::not_trainable);
  const auto m2 = tg::variable<"n2/moving_variance", double, 3>(tg::ones, tg::not_trainable);
  const auto m3 = tg::variable<"n3/moving_variance", double, 3>(tg::ones, tg::not_trainable);
  const auto v1 = std::get<1>(tg::moments<0>(tg::dense<"d1", 3>(x)));
  const auto v2 = std::get<1>(tg::moments<0>(tg::dense<"d2", 3>(tg::relu(h1))));
  const auto v3 = std::get<1>(tg::moments<0>(h1 + h2));
  tg::session session(tg::compile([=] { return tg::outputs(a, b, c, d, m1, m2, m3, v1, v2, v3); }), {.seed = 4});
  std::mt19937 random(20261125);
  std::vector<double> expected[3]{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  const bool moved[4][3]{{true, false, false}, {false, true, true}, {true, true, true}, {false, false, true}};
  for (int step = 0; step < 60; ++step) {
    tg::tensor<double> in(tg::shape{2 + static_cast<tg::extent>(random() % 5), 3});
    for (tg::extent i = 0; i < in.dims().elements(); ++i) in[i] = static_cast<double>(random() % 1000) / 100;
    const auto which = random() % 4;
    const auto [n1, n2, n3] = session.run(tg::fetch(v1, v2, v3), x = in);
    which == 0   ? session.run(a, x = in)
    : which == 1 ? session.run(b, x = in)
    : which == 2 ? session.run(c, x = in)
                 : session.run(d, x = in);
    const auto [k1, k2, k3] = session.run(tg::fetch(m1, m2, m3));
    const tg::tensor<double>*now[3]{&n1, &n2, &n3}, *got[3]{&k1, &k2, &k3};
    for (std::size_t l = 0; l < 3; ++l)
      for (std::size_t i = 0; i < 3; ++i) {
        const auto at = static_cast<tg::extent>(i);
        if (moved[which][l]) expected[l][i] = (expected[l][i] + (*now[l])[at]) / 2;
        CHECK((*got[l])[at] == Approx(expected[l][i]).epsilon(1e-9));
      }
  }
}
