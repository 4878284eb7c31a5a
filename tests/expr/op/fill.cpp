// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/fill.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("zeros_like and ones_like: the shape of the run, whatever the elements are") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  constexpr auto n = tg::placeholder<"n", std::int16_t, 3>();
  constexpr auto flags = tg::placeholder<"flags", bool, 2>();
  constexpr auto zeros = tg::zeros_like(x), same = tg::zeros_like(x);
  constexpr auto ones = tg::ones_like(n);
  constexpr auto yes = tg::ones_like(flags);
  constexpr auto slope = tg::gradient(tg::sum(tg::ones_like(x) * x), x);
  STATIC_REQUIRE(std::is_same_v<decltype(zeros), decltype(same)>);
  const auto program = tg::compile([=] { return tg::outputs(zeros, ones, yes, slope); });
  tg::session session(program);
  const tg::tensor<float> in(tg::shape{2, 2}, {1, 2, 3, 4});
  const std::vector<std::int16_t> three{7, 8, 9};
  const tg::tensor<bool> off(tg::shape{2});
  const auto [z, o, y, s] = session.run(tg::fetch(zeros, ones, yes, slope), x = in, n = three, flags = off);
  CHECK(z == tg::tensor<float>(tg::shape{2, 2}));
  CHECK(o == tg::tensor<std::int16_t>(tg::shape{3}, {1, 1, 1}));
  CHECK(y == tg::tensor<bool>(tg::shape{2}, {true, true}));
  CHECK(s == tg::tensor<float>(tg::shape{2, 2}, {1, 1, 1, 1}));
}
