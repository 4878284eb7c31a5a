// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/control.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto w = tg::variable<"w", float, 3>(tg::zeros);

TEST_CASE("one after serves several nodes, also such as carry numbers") {
  const auto update = tg::assign(w, x);
  const auto behind = tg::after(update);
  const auto twice = behind(2.0f * w);
  const auto thrice = behind(3.0f * w);
  const auto both = tg::after(twice, thrice)(tg::sum(w));
  tg::session session(tg::compile([=] { return tg::outputs(twice, thrice, both); }));
  const tg::tensor<float> in(tg::shape{3}, {1, 2, 3});
  const auto [a, b, c] = session.run(tg::fetch(twice, thrice, both), x = in);
  CHECK((a[2] == 6 && b[2] == 9 && c == 6));
}

TEST_CASE("groups hold groups, and what only waits is done too") {
  const auto one = tg::assign_add(w, x);
  const auto inner = tg::group(one);
  const auto outer = tg::group(inner, tg::after(inner)(tg::assign_add(w, x)));
  tg::session session(tg::compile([=] { return tg::outputs(outer, inner, w); }));
  const tg::tensor<float> in(tg::shape{3}, {1, 2, 3});
  session.run(outer, x = in);
  CHECK(session.run(w)[0] == 2);
  session.run(inner, x = in);
  CHECK(session.run(w)[0] == 3);
  session.run(tg::fetch(inner, outer), x = in);
  CHECK(session.run(w)[0] == 5);
}

constexpr auto waiting = tg::after(tg::identity(x))(tg::exp(x));
static_assert(waiting.record().controls.size() == 1 && waiting.record().inputs.size() == 1);
static_assert(waiting.record().hash != tg::exp(x).record().hash && decltype(waiting)::spec == decltype(tg::exp(x))::spec);

}  // namespace
