// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/conv.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

tg::tensor<double> numbers(const tg::shape& dims, int seed) {
  tg::tensor<double> t(dims);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 12345u;
  for (double& v : t.span()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<double>(state >> 16) / 32768.0 - 1.0;
  }
  return t;
}

template <class E>
constexpr tg::shape dims_of(const E&) {
  return E::spec.dims;
}

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 27, 6>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 4, 6, 8>();
constexpr auto narrow = tg::placeholder<"narrow", float, 5, 4, 3, 8>();

}  // namespace

TEST_CASE("extents of convolutions are known to the compiler", "[conv]") {
  static_assert(dims_of(tg::conv2d(images, filter)) == tg::shape{tg::dyn, 24, 24, 8});
  static_assert(dims_of(tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(images, filter)) ==
                tg::shape{tg::dyn, 28, 27, 8});
  static_assert(dims_of(tg::conv2d<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(images, filter)) ==
                tg::shape{tg::dyn, 14, 14, 8});
  static_assert(dims_of(tg::conv2d<tg::conv_options{.stride = {3, 2}, .padding = {1, 0, 2, 1}, .dilation = {2, 1}}>(
                    images, filter)) == tg::shape{tg::dyn, 7, 14, 8});
  static_assert(dims_of(tg::conv2d<tg::conv_options{.groups = 2}>(images, narrow)) == tg::shape{tg::dyn, 24, 24, 8});
  constexpr auto open = tg::placeholder<"open", float, 2, tg::dyn, 27, 6>();
  static_assert(dims_of(tg::conv2d(open, filter)) == tg::shape{2, tg::dyn, 24, 8});
  constexpr auto y = tg::placeholder<"y", float, 2, 14, 13, 8>();
  static_assert(dims_of(tg::conv2d_transpose(y, filter)) == tg::shape{2, 18, 16, 6});
  constexpr tg::conv_options twice{.stride = 2, .padding = tg::same_padding};
  static_assert(dims_of(tg::conv2d_transpose<twice>(y, filter)) == tg::shape{2, 28, 26, 6});
  static_assert(dims_of(tg::conv2d_transpose<twice, 27, 25>(y, filter)) == tg::shape{2, 27, 25, 6});
  SUCCEED("compiled");
}

TEST_CASE("gradients of convolutions are difference quotients, twice", "[conv]") {
  constexpr tg::conv_options options{.stride = {2, 1}, .padding = tg::same_padding, .dilation = {1, 2}, .groups = 2};
  const auto x = tg::placeholder<"x", double, tg::dyn, 5, 4, 4>();
  const auto w = tg::placeholder<"w", double, 3, 2, 2, 4>();
  const auto b = tg::placeholder<"b", double, 4>();
  const auto loss = tg::sum(tg::tanh(tg::conv2d<options>(x, w, b)));
  const auto dx = tg::gradient(loss, x);
  const auto dw = tg::gradient(loss, w);
  const auto db = tg::gradient(loss, b);
  const auto steep_x = tg::sum(tg::square(dx));
  const auto steep_w = tg::sum(tg::square(dw));
  const auto xx = tg::gradient(steep_x, x);
  const auto xw = tg::gradient(steep_x, w);
  const auto wx = tg::gradient(steep_w, x);
  const auto ww = tg::gradient(steep_w, w);
  const auto program = tg::compile([=] { return tg::outputs(loss, dx, dw, db, steep_x, steep_w, xx, xw, wx, ww); });
  tg::session session(program);
  const auto xs = numbers({2, 5, 4, 4}, 1), ws = numbers({3, 2, 2, 4}, 2), bs = numbers({4}, 3);
  using value = tg::tensor<double>;
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(loss, dx), x = v, w = ws, b = bs); }, xs);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(loss, dw), x = xs, w = v, b = bs); }, ws);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(loss, db), x = xs, w = ws, b = v); }, bs);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(steep_x, xx), x = v, w = ws, b = bs); },
                           xs);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(steep_x, xw), x = xs, w = v, b = bs); },
                           ws);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(steep_w, wx), x = v, w = ws, b = bs); },
                           xs);
  tg::test::check_gradient([&](const value& v) { return session.run(tg::fetch(steep_w, ww), x = xs, w = v, b = bs); },
                           ws);
}

TEST_CASE("a transposed convolution is the gradient of a convolution by its images", "[conv]") {
  constexpr tg::conv_options options{.stride = 2, .padding = tg::same_padding};
  const auto x = tg::placeholder<"x", double, tg::dyn, 7, 6, 3>();
  const auto y = tg::placeholder<"y", double, tg::dyn, 4, 3, 5>();
  const auto w = tg::placeholder<"w", double, 3, 3, 3, 5>();
  const auto pairing = tg::sum(tg::conv2d<options>(x, w) * y);
  const auto expected = tg::gradient(pairing, x);
  const auto result = tg::conv2d_transpose<options, 7, 6>(y, w);
  const auto loss = tg::sum(tg::sin(result));
  const auto dy = tg::gradient(loss, y);
  const auto dw = tg::gradient(loss, w);
  const auto program = tg::compile([=] { return tg::outputs(expected, result, loss, dy, dw); });
  tg::session session(program);
  const auto ys = numbers({2, 4, 3, 5}, 4), ws = numbers({3, 3, 3, 5}, 5);
  const auto value = session.run(result, y = ys, w = ws);
  const auto wanted = session.run(expected, x = numbers({2, 7, 6, 3}, 6), y = ys, w = ws);
  REQUIRE(value.dims() == wanted.dims());
  for (tg::extent i = 0; i < value.dims().elements(); ++i) CHECK(value[i] == Approx(wanted[i]).margin(1e-12));
  using tensor = tg::tensor<double>;
  tg::test::check_gradient([&](const tensor& v) { return session.run(tg::fetch(loss, dy), y = v, w = ws); }, ys);
  tg::test::check_gradient([&](const tensor& v) { return session.run(tg::fetch(loss, dw), y = ys, w = v); }, ws);
}

TEST_CASE("windows that reach beyond any image do not fit, without overflow", "[conv]") {
  using tg::op::window_axis;
  constexpr tg::extent tall = tg::extent{1} << 50;
  constexpr window_axis far{tall, 1, 32767, 0, 0, false}, same{tall, 3, 32767, 0, 0, true}, near{3, 2, 1, 1, 1, false};
  STATIC_REQUIRE(far.reach() == tg::too_many);
  STATIC_REQUIRE(far.positions(100) == 0);
  STATIC_REQUIRE(same.positions(100) == 0);
  STATIC_REQUIRE(near.positions(INT64_MAX) == INT64_MAX / 2);
  STATIC_REQUIRE(near.covered(INT64_MAX) >= INT64_MAX - 2);
  STATIC_REQUIRE(window_axis{3, 65535, 1, 0, 0, true}.covered(tall) == tg::too_many);
  STATIC_REQUIRE(window_axis{3, 65535, 1, 0, 0, true}.positions(INT64_MAX) == INT64_MAX / 65535 + 1);
  STATIC_REQUIRE(window_axis{0, 2, 32767, 0, 0, false}.reach() == -32766);
}
