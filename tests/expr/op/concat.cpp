// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/concat.hpp"

#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("concat, stack and tile: what the compiler knows and refuses") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  constexpr auto y = tg::placeholder<"y", float, 2, 4>();
  STATIC_REQUIRE(tg::concat<0>(x, y, y).spec.dims == tg::shape{tg::dyn, 4});
  STATIC_REQUIRE(tg::concat<-1>(x, y).spec.dims == tg::shape{2, 8});
  STATIC_REQUIRE(tg::stack<-1>(y, y, y).spec.dims == tg::shape{2, 4, 3});
  STATIC_REQUIRE(tg::stack(x, y).spec.dims == tg::shape{2, 2, 4});
  STATIC_REQUIRE(tg::tile<3, 2>(x).spec.dims == tg::shape{tg::dyn, 8});
  using a = tg::spec<float, 2, 4>;
  STATIC_REQUIRE(!tg::diagnose::shapes_concatenate<0, a, tg::spec<float, 2, 5>>);
  STATIC_REQUIRE(!tg::diagnose::shapes_concatenate<0, a, tg::spec<float, 2>>);
  STATIC_REQUIRE(!tg::diagnose::shapes_concatenate<2, a, a>);
  STATIC_REQUIRE(!tg::diagnose::one_element_type<a, tg::spec<double, 2, 4>>);
  STATIC_REQUIRE(tg::diagnose::operands_fit_one_node<a> && !tg::diagnose::operands_fit_one_node<>);
  STATIC_REQUIRE(!tg::diagnose::multiples_fit<a, 2>);
  STATIC_REQUIRE(!tg::diagnose::multiples_fit<a, 2, 0>);
}

TEST_CASE("concat, stack and tile: values and gradients, along axes that vary") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 2>();
  constexpr auto y = tg::placeholder<"y", double, tg::dyn, 2>();
  constexpr auto both = tg::concat<0>(x, y, x, tg::square(x));
  constexpr auto wide = tg::concat<1>(x, tg::square(x));
  constexpr auto pile = tg::stack<1>(x, tg::square(x));
  constexpr auto wall = tg::tile<2, 3>(x);
  constexpr auto weight = tg::placeholder<"weight", double, tg::dyn, 2>();
  constexpr auto loss = tg::sum(tg::square(both) * weight) + tg::sum(tg::square(wide) * wide) +
                        tg::sum(tg::square(pile) * pile) + tg::sum(tg::square(wall) * tg::tile<2, 3>(tg::square(x)));
  constexpr auto by_x = tg::gradient(loss, x);
  constexpr auto by_y = tg::gradient(loss, y);
  constexpr auto bend = tg::sum(tg::square(by_x));
  constexpr auto curvature = tg::gradient(bend, x);
  const auto program =
      tg::compile([=] { return tg::outputs(both, wide, pile, wall, loss, by_x, by_y, bend, curvature); });
  tg::session session(program);

  const tg::tensor<double> a(tg::shape{2, 2}, {1, 2, 3, 4}), b(tg::shape{1, 2}, {5, 6});
  const auto [v, w, p, t] = session.run(tg::fetch(both, wide, pile, wall), x = a, y = b);
  CHECK(v == tg::tensor<double>(tg::shape{7, 2}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 1, 4, 9, 16}));
  CHECK(w == tg::tensor<double>(tg::shape{2, 4}, {1, 2, 1, 4, 3, 4, 9, 16}));
  CHECK(p == tg::tensor<double>(tg::shape{2, 2, 2}, {1, 2, 1, 4, 3, 4, 9, 16}));
  CHECK(t ==
        tg::tensor<double>(tg::shape{4, 6}, {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));

  const tg::tensor<double> at(tg::shape{2, 2}, {0.3, -0.4, 0.9, 0.2});
  const tg::tensor<double> other(tg::shape{3, 2}, {0.1, 0.2, -0.3, 0.4, 0.5, 0.6});
  tg::tensor<double> weights(tg::shape{9, 2});
  for (tg::extent i = 0; i < 18; ++i) weights[i] = 0.3 * static_cast<double>(i) - 2;
  tg::test::check_gradient(
      [&](const auto& z) { return session.run(tg::fetch(loss, by_x), x = z, y = other, weight = weights); }, at);
  tg::test::check_gradient(
      [&](const auto& z) { return session.run(tg::fetch(loss, by_y), x = at, y = z, weight = weights); }, other);
  tg::test::check_gradient(
      [&](const auto& z) { return session.run(tg::fetch(bend, curvature), x = z, y = other, weight = weights); }, at);
}

namespace {
template <class E, int... I>
constexpr auto many(const E& e, std::integer_sequence<int, I...>) {
  return tg::concat<0>((I % 2 == 0 ? e : e)...);
}
}  // namespace

TEST_CASE("concat: sixty-four operands are one node, whose gradient is right at both ends") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  constexpr auto all = many(x, std::make_integer_sequence<int, 64>{});
  constexpr auto weight = tg::placeholder<"weight", float, tg::dyn>();
  constexpr auto slope = tg::gradient(tg::sum(all * weight), x);
  const auto program = tg::compile([=] { return tg::outputs(all, slope); });
  tg::session session(program);
  tg::tensor<float> weights(tg::shape{128});
  for (tg::extent i = 0; i < 128; ++i) weights[i] = static_cast<float>(i * i);
  const auto [joined, gradient] = session.run(tg::fetch(all, slope), x = std::vector<float>{3, 4}, weight = weights);
  REQUIRE(joined.dims() == tg::shape{128});
  CHECK(joined[127] == 4);
  double even = 0, odd = 0;
  for (int i = 0; i < 128; i += 2) even += i * i, odd += (i + 1) * (i + 1);
  CHECK(static_cast<double>(gradient[0]) == even);
  CHECK(static_cast<double>(gradient[1]) == odd);
}

TEST_CASE("concat: operands that differ in a run are an error that names their shapes") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, tg::dyn>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, tg::dyn>();
  constexpr auto joined = tg::concat<1>(x, y);
  const auto program = tg::compile([=] { return tg::outputs(joined); });
  tg::session session(program);
  CHECK_THROWS_WITH(session.run(joined, x = tg::tensor<float>(tg::shape{2, 1}), y = tg::tensor<float>(tg::shape{3, 1})),
                    Catch::Contains("concat") && Catch::Contains("[2, 1]") && Catch::Contains("[3, 1]"));
}

TEST_CASE("concat and tile: extents beyond counting stay beyond it, without overflow") {
  constexpr auto x = tg::placeholder<"x", float, 4, tg::dyn>();
  constexpr auto many = tg::tile<INT64_MAX / 2, 1>(x);
  constexpr auto more = tg::concat<0>(x, many, many, x);
  STATIC_REQUIRE(many.spec.dims == tg::shape{tg::too_many, tg::dyn});
  STATIC_REQUIRE(more.spec.dims == tg::shape{tg::too_many, tg::dyn});
  STATIC_REQUIRE(tg::sum<0>(more).spec.dims == tg::shape{tg::dyn});
}

TEST_CASE("split is one step, whose parts are fetched, fed and left out one by one") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 6>();
  constexpr auto parts = tg::split<1, 3>(x);
  constexpr auto first = std::get<0>(parts);
  constexpr auto second = std::get<1>(parts);
  constexpr auto third = std::get<2>(parts);
  constexpr auto all = tg::sum(first * second) + tg::sum(tg::square(third) * third);
  constexpr auto slope = tg::gradient(all, x);
  constexpr auto by_second = tg::gradient(tg::sum(tg::square(second)), x);
  constexpr auto by_two = tg::gradient(tg::sum(first * third), x);
  const auto program = tg::compile([=] { return tg::outputs(first, second, third, all, slope, by_second, by_two); });
  int steps = 0;
  for (const auto& s : decltype(program)::full_plan::steps)
    steps += decltype(program)::full_plan::nodes[static_cast<std::size_t>(s.node)].op->name == "split";
  CHECK(steps == 1);
  tg::session session(program);
  const tg::tensor<double> in({2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(session.run(second, x = in) == tg::tensor<double>({2, 2}, {3, 4, 9, 10}));
  const auto [a, c] = session.run(tg::fetch(first, third), x = in);
  CHECK(a == tg::tensor<double>({2, 2}, {1, 2, 7, 8}));
  CHECK(c == tg::tensor<double>({2, 2}, {5, 6, 11, 12}));
  CHECK(session.run(by_second, x = in) == tg::tensor<double>({2, 6}, {0, 0, 6, 8, 0, 0, 0, 0, 18, 20, 0, 0}));
  CHECK(session.run(by_two, x = in) == tg::tensor<double>({2, 6}, {5, 6, 0, 0, 1, 2, 11, 12, 0, 0, 7, 8}));
  const tg::tensor<double> zeros({2, 2});
  CHECK(session.run(all, x = in, third = zeros) == 1 * 3 + 2 * 4 + 7 * 9 + 8 * 10);
  CHECK(session.run(all, first = zeros, second = zeros, third = zeros) == 0);
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(all, slope), x = z); }, in);
}

TEST_CASE("parts of any extents are one step, and so is what flows back into all of them") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 6>();
  constexpr auto parts = tg::detail::make_parts<1, void, 1, 3, 2>(x);
  constexpr auto first = std::get<0>(parts);
  constexpr auto second = std::get<1>(parts);
  constexpr auto third = std::get<2>(parts);
  STATIC_REQUIRE(second.spec.dims == tg::shape{tg::dyn, 3});
  constexpr auto all = tg::sum(first * tg::sum<1>(tg::square(second), tg::keep_dims)) + tg::sum(third * third * third);
  constexpr auto slope = tg::gradient(all, x);
  constexpr auto by_two = tg::gradient(tg::sum(first * third), x);
  constexpr auto by_one = tg::gradient(tg::sum(tg::square(second)), x);
  const auto program = tg::compile([=] { return tg::outputs(second, all, slope, by_two, by_one); });
  tg::session session(program);
  const tg::tensor<double> in({2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(session.run(second, x = in) == tg::tensor<double>({2, 3}, {2, 3, 4, 8, 9, 10}));
  CHECK(session.run(by_two, x = in) == tg::tensor<double>({2, 6}, {11, 0, 0, 0, 1, 1, 23, 0, 0, 0, 7, 7}));
  CHECK(session.run(by_one, x = in) == tg::tensor<double>({2, 6}, {0, 4, 6, 8, 0, 0, 0, 16, 18, 20, 0, 0}));
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(all, slope), x = z); }, in);
}

TEST_CASE("split into one part, and into more than an operation has results") {
  constexpr auto x = tg::placeholder<"x", float, 9, 2>();
  constexpr auto parts = tg::split<0, 9>(x);
  constexpr auto sum = std::apply([](const auto&... part) { return (part + ...); }, parts);
  constexpr auto slope = tg::gradient(tg::sum(tg::square(sum)), x);
  constexpr auto whole = std::get<0>(tg::split<0, 1>(x));
  const auto program = tg::compile([=] { return tg::outputs(sum, slope, whole); });
  tg::session session(program);
  tg::tensor<float> in({9, 2});
  for (tg::extent i = 0; i < 18; ++i) in[i] = static_cast<float>(i);
  CHECK(session.run(sum, x = in) == tg::tensor<float>({1, 2}, {72, 81}));
  CHECK(session.run(slope, x = in)(4, 1) == 2 * 81);
  CHECK(session.run(whole, x = in) == in);
}
