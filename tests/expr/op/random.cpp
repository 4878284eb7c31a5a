// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/random.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

struct moments {
  double mean = 0, variance = 0, least = 0, most = 0;
};

template <class T>
moments moments_of(const tg::tensor<T>& t) {
  moments m{0, 0, static_cast<double>(t[0]), static_cast<double>(t[0])};
  const auto n = static_cast<double>(t.size());
  for (const T v : t) {
    const auto x = static_cast<double>(v);
    m.mean += x / n;
    m.least = std::fmin(m.least, x);
    m.most = std::fmax(m.most, x);
  }
  for (const T v : t) m.variance += (static_cast<double>(v) - m.mean) * (static_cast<double>(v) - m.mean) / n;
  return m;
}

}  // namespace

TEST_CASE("random tensors: moments, places, runs, seeds and gradients of their parameters") {
  constexpr auto low = tg::placeholder<"low", float>();
  constexpr auto like = tg::placeholder<"like", tg::bfloat16, tg::dyn, 100>();
  const auto uniform = tg::random_uniform<float, 100, 100>(-1.0f, 3);
  const auto moved = tg::random_uniform<float, 100>(low, 1.0f);
  const auto slope = tg::gradient(tg::sum(moved), low);
  const auto normal = tg::random_normal<double, 10000>(2.0, 0.5);
  const auto other = tg::random_normal<double, 10000>(2.0, 0.5);
  const auto cut = tg::truncated_normal<float, 10000>();
  const auto copied = tg::random_uniform_like(like);
  const auto difference = tg::sum(tg::square(uniform - uniform));
  const auto program = tg::compile(
      [=] { return tg::outputs(uniform, moved, slope, normal, other, cut, copied, difference); });
  tg::session session(program, {.seed = 7});

  const auto [u, n, o, c] = session.run(tg::fetch(uniform, normal, other, cut));
  const moments flat = moments_of(u);
  CHECK(flat.mean == Approx(1).margin(0.05));
  CHECK(flat.variance == Approx(16.0 / 12).margin(0.05));
  CHECK(flat.least >= -1);
  CHECK(flat.most < 3);
  CHECK(flat.most > 2.99);
  CHECK(moments_of(n).mean == Approx(2).margin(0.02));
  CHECK(moments_of(n).variance == Approx(0.25).margin(0.01));
  CHECK(!(n == o));
  CHECK(moments_of(c).variance == Approx(0.7737).margin(0.03));
  CHECK(moments_of(c).least > -2);
  CHECK(moments_of(c).most < 2);

  const tg::tensor<tg::bfloat16> some(tg::shape{50, 100});
  const auto drawn = session.run(copied, like = some);
  REQUIRE(drawn.dims() == tg::shape{50, 100});
  CHECK(moments_of(drawn).mean == Approx(0.5).margin(0.02));
  CHECK(moments_of(drawn).most < 1);
  CHECK(session.run(difference) == 0);

  const float below = 0.5f;
  const auto [m, s] = session.run(tg::fetch(moved, slope), low = below);
  double rest = 0;
  for (const float v : m) rest += (1 - static_cast<double>(v)) / 0.5;  // moved = low + (1 - low) u
  CHECK(moments_of(m).least >= 0.5);
  CHECK(static_cast<double>(s) == Approx(rest).epsilon(1e-4));

  CHECK(!(session.run(uniform) == u));
  tg::session again(program, {.seed = 7, .intra_op_threads = 1}), strange(program, {.seed = 8});
  CHECK(again.run(uniform) == u);
  CHECK(!(strange.run(uniform) == u));
}

TEST_CASE("dropout: drops the given share, scales the rest, and its gradient drops the same elements") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 100>();
  constexpr auto share = tg::placeholder<"share", float>();
  const auto thinned = tg::dropout(x, 0.25);
  const auto slope = tg::gradient(tg::sum(thinned), x);
  const auto varied = tg::dropout(x, share);
  const auto varied_slope = tg::gradient(tg::sum(varied), x);
  const auto program = tg::compile([=] { return tg::outputs(thinned, slope, varied, varied_slope); });
  tg::session session(program, {.seed = 3});
  tg::tensor<float> in(tg::shape{100, 100});
  for (tg::extent i = 0; i < 10000; ++i) in[i] = static_cast<float>(i + 1);

  const auto check = [&](const tg::tensor<float>& y, const tg::tensor<float>& g, float rate) {
    int dropped = 0, wrong = 0;
    for (tg::extent i = 0; i < 10000; ++i) {
      dropped += y[i] == 0;
      wrong += y[i] != 0 && std::abs(y[i] - in[i] / (1 - rate)) > 1e-6f * in[i] / (1 - rate);
      wrong += std::abs(g[i] - (y[i] == 0 ? 0 : 1 / (1 - rate))) > 1e-6f;
    }
    CHECK(wrong == 0);
    CHECK(dropped == Approx(10000 * rate).margin(200));
  };
  const float given = 0.6f, none = 0;
  const auto [y, g] = session.run(tg::fetch(thinned, slope), x = in);
  check(y, g, 0.25f);
  const auto [v, w] = session.run(tg::fetch(varied, varied_slope), x = in, share = given);
  check(v, w, given);
  CHECK(session.run(varied, x = in, share = none) == in);
  CHECK(!(session.run(thinned, x = in) == y));
  CHECK_THROWS_WITH(tg::dropout(x, 1.0f), Catch::Contains("rate is 1") && Catch::Contains("not in [0, 1)"));
}
