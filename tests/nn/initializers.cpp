// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/initializers.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {
struct moments {
  double mean = 0, deviation = 0, lowest = 0, highest = 0;
};
moments moments_of(const tg::tensor<float>& t) {
  moments m;
  m.lowest = m.highest = static_cast<double>(t[0]);
  for (const float v : t) {
    m.mean += static_cast<double>(v) / static_cast<double>(t.size());
    m.lowest = std::fmin(m.lowest, static_cast<double>(v));
    m.highest = std::fmax(m.highest, static_cast<double>(v));
  }
  for (const float v : t) m.deviation += std::pow(static_cast<double>(v) - m.mean, 2) / static_cast<double>(t.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}
}  // namespace

TEST_CASE("initial values have the moments of their distribution and depend on seed and name alone") {
  const auto glorot = tg::variable<"glorot", float, 100, 200>(tg::glorot_uniform);
  const auto he = tg::variable<"he", float, 100, 200>(tg::he_normal);
  const auto uniform = tg::variable<"uniform", float, 100, 200>(tg::random_uniform(-2, 4));
  const auto normal = tg::variable<"normal", float, 100, 200>(tg::random_normal(1, 0.5));
  const auto cut = tg::variable<"cut", float, 100, 200>(tg::truncated_normal(0, 1));
  const auto filled = tg::variable<"filled", float, 3>(tg::filled_with(0.25));
  const auto filter = tg::variable<"filter", float, 5, 5, 4, 8>(tg::he_uniform);
  const auto program = tg::compile([=] { return tg::outputs(glorot, he, uniform, normal, cut, filled, filter); });
  tg::session session(program, {.seed = 7}), same(program, {.seed = 7}), other(program, {.seed = 8});

  const auto g = moments_of(session.run(glorot));
  const double limit = std::sqrt(6.0 / 300);
  CHECK(g.highest <= limit);
  CHECK(g.lowest >= -limit);
  CHECK(g.deviation == Approx(limit / std::sqrt(3.0)).epsilon(0.02));
  CHECK(moments_of(session.run(he)).deviation == Approx(std::sqrt(2.0 / 100)).epsilon(0.02));
  const auto u = moments_of(session.run(uniform));
  CHECK(u.mean == Approx(1).margin(0.05));
  CHECK(u.lowest >= -2);
  CHECK(u.highest < 4);
  const auto n = moments_of(session.run(normal));
  CHECK(n.mean == Approx(1).margin(0.02));
  CHECK(n.deviation == Approx(0.5).epsilon(0.02));
  const auto c = moments_of(session.run(cut));
  CHECK(c.highest < 2);
  CHECK(c.lowest > -2);
  CHECK(session.run(filled) == tg::tensor<float>(tg::shape{3}, {0.25f, 0.25f, 0.25f}));
  CHECK(moments_of(session.run(filter)).highest <= std::sqrt(6.0 / (25 * 4)));

  CHECK(session.run(glorot) == same.run(glorot));
  CHECK_FALSE(session.run(glorot) == other.run(glorot));
  CHECK_FALSE(session.run(glorot) == session.run(he));
}
