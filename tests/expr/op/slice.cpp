// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/slice.hpp"

#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::all_of_axis;
using tg::padding;
using tg::range;

TEST_CASE("slice, split and pad: what the compiler knows and refuses") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();
  constexpr auto first = tg::slice<range{0, 3}>(x);
  constexpr auto last = tg::slice<range{-2}, range{1, -1}>(x);
  constexpr auto rest = tg::slice<range{1}>(x);
  constexpr auto mixed = tg::slice<range{1, -1}, range{-6, 6}>(x);
  STATIC_REQUIRE(first.spec.dims == tg::shape{3, 6});
  STATIC_REQUIRE(last.spec.dims == tg::shape{2, 4});
  STATIC_REQUIRE(rest.spec.dims == tg::shape{tg::dyn, 6});
  STATIC_REQUIRE(mixed.spec.dims == tg::shape{tg::dyn, 6});
  constexpr auto thirds = tg::split<-1, 3>(x);
  STATIC_REQUIRE(std::tuple_size_v<std::remove_cvref_t<decltype(thirds)>> == 3);
  STATIC_REQUIRE(std::get<2>(thirds).spec.dims == tg::shape{tg::dyn, 2});
  using s = tg::spec<float, 4, tg::dyn>;
  STATIC_REQUIRE(tg::diagnose::ranges_fit<s, range{-4, 4}, range{5, 900}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, range{-5}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, range{0, 5}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, range{3, 2}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, all_of_axis, range{5, 4}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, all_of_axis, all_of_axis, all_of_axis>);
  STATIC_REQUIRE(!tg::diagnose::splits_evenly<s, 0, 3>);
  STATIC_REQUIRE(!tg::diagnose::splits_evenly<s, 1, 2>);
  STATIC_REQUIRE(!tg::diagnose::paddings_fit<s, padding{1, 1}>);
  STATIC_REQUIRE(!tg::diagnose::paddings_fit<s, padding{1, 1}, padding{-1, 0}>);
}

TEST_CASE("slice, split and pad: values and gradients, along an axis that varies") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 4>();
  constexpr auto filler = tg::placeholder<"filler", double>();
  constexpr auto inner = tg::slice<range{1, -1}, range{-3, 3}>(x);
  constexpr auto halves = tg::split<1, 2>(x);
  constexpr auto right = std::get<1>(halves);
  constexpr auto framed = tg::pad<padding{1, 2}, padding{0, 1}>(x, filler);
  constexpr auto product =
      tg::sum(tg::square(inner)) + tg::sum(std::get<0>(halves) * right) + tg::sum(tg::square(framed) * framed);
  constexpr auto slope = tg::gradient(product, x);
  constexpr auto filler_slope = tg::reshape<1>(tg::gradient(product, filler));
  constexpr auto curvature = tg::gradient(tg::sum(tg::square(slope)), x);
  constexpr auto bend = tg::sum(tg::square(slope));
  const auto program =
      tg::compile([=] { return tg::outputs(inner, right, framed, product, slope, filler_slope, bend, curvature); });
  tg::session session(program);

  const tg::tensor<double> in(tg::shape{3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const double f = 0.5;
  const auto [i, r, p] = session.run(tg::fetch(inner, right, framed), x = in, filler = f);
  CHECK(i == tg::tensor<double>(tg::shape{1, 2}, {6, 7}));
  CHECK(r == tg::tensor<double>(tg::shape{3, 2}, {3, 4, 7, 8, 11, 12}));
  CHECK(p == tg::tensor<double>(tg::shape{6, 5}, {f, f,  f,  f,  f, 1, 2, 3, 4, f, 5, 6, 7, 8, f,
                                                  9, 10, 11, 12, f, f, f, f, f, f, f, f, f, f, f}));

  tg::tensor<double> small(tg::shape{4, 4});
  for (tg::extent k = 0; k < 16; ++k) small[k] = 0.1 * static_cast<double>(k) - 0.7;
  tg::test::check_gradient(
      [&](const tg::tensor<double>& v) { return session.run(tg::fetch(product, slope), x = v, filler = f); }, small);
  tg::test::check_gradient(
      [&](const tg::tensor<double>& v) { return session.run(tg::fetch(bend, curvature), x = v, filler = f); }, small);
  tg::test::check_gradient(
      [&](const auto& v) { return session.run(tg::fetch(product, filler_slope), x = small, filler = v[0]); },
      tg::tensor<double>(tg::shape{1}, {0.25}));
}

TEST_CASE("slice: a range beyond an axis that varies is an error of the run, which names the operation") {
  constexpr auto x = tg::placeholder<"x", std::int32_t, tg::dyn>();
  constexpr auto tail = tg::slice<range{-3}>(x);
  const auto program = tg::compile([=] { return tg::outputs(tail); });
  tg::session session(program);
  CHECK(session.run(tail, x = std::vector<std::int32_t>{1, 2, 3, 4}) ==
        tg::tensor<std::int32_t>(tg::shape{3}, {2, 3, 4}));
  CHECK_THROWS_WITH(session.run(tail, x = std::vector<std::int32_t>{1, 2}),
                    Catch::Contains("slice") && Catch::Contains("beyond its axis") && Catch::Contains("int32 [2]"));
}

TEST_CASE("pad and slice: extents beyond counting stay beyond it, without overflow") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();
  const auto framed = tg::pad<padding{}, padding{INT64_MAX, 1}>(x, 0.0f);
  const auto again = tg::pad<padding{INT64_MAX, INT64_MAX}, padding{INT64_MAX, INT64_MAX}>(framed, 0.0f);
  STATIC_REQUIRE(framed.spec.dims == tg::shape{tg::dyn, tg::too_many});
  STATIC_REQUIRE(again.spec.dims == tg::shape{tg::dyn, tg::too_many});
  using s = tg::spec<float, 4, tg::dyn>;
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, all_of_axis, range{INT64_MIN}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, range{INT64_MIN, INT64_MAX - 1}>);
  STATIC_REQUIRE(!tg::diagnose::ranges_fit<s, all_of_axis, range{INT64_MIN, -1}>);
  STATIC_REQUIRE(tg::diagnose::ranges_fit<s, all_of_axis, range{-INT64_MAX, -1}>);
}
