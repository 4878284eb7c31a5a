// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/pool.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

// Few different values, so that windows have several equal maxima.
template <class T>
tg::tensor<T> numbers(const tg::shape& dims, int seed) {
  tg::tensor<T> t(dims);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 12345u;
  for (T& v : t.span()) {
    state = state * 1664525u + 1013904223u;
    v = T(static_cast<float>(state >> 24) / 16.0f - 8.0f);
  }
  return t;
}

// Pooling window by window in double: results, and the gradients of sum(y * dy) by the images.
struct reference {
  tg::tensor<double> largest, mean, by_largest, by_mean;

  template <class T>
  reference(const tg::tensor<T>& x, const tg::tensor<T>& dy, tg::window size, const tg::pool_options& o)
      : largest(dy.dims()), mean(dy.dims()), by_largest(x.dims()), by_mean(x.dims()) {
    const tg::shape &xs = x.dims(), &ys = dy.dims();
    for (double& v : by_largest.span()) v = 0;
    for (double& v : by_mean.span()) v = 0;
    const auto first = [&](tg::extent in, tg::extent out, int length, int stride, int before) {
      if (!o.padding.automatic) return tg::extent{before};
      const tg::extent missing = (out - 1) * stride + length - in;
      return missing > 0 ? missing / 2 : 0;
    };
    const tg::extent top = first(xs[1], ys[1], size.height, o.stride.height, o.padding.top);
    const tg::extent left = first(xs[2], ys[2], size.width, o.stride.width, o.padding.left);
    for (tg::extent n = 0; n < ys[0]; ++n)
      for (tg::extent i = 0; i < ys[1]; ++i)
        for (tg::extent j = 0; j < ys[2]; ++j)
          for (tg::extent c = 0; c < ys[3]; ++c) {
            double total = 0, best = -1e300;
            tg::extent where = -1, seen = 0;
            std::vector<tg::extent> places;
            for (tg::extent a = 0; a < size.height; ++a)
              for (tg::extent b = 0; b < size.width; ++b) {
                const tg::extent r = i * o.stride.height + a - top, q = j * o.stride.width + b - left;
                if (r < 0 || r >= xs[1] || q < 0 || q >= xs[2]) continue;
                const tg::extent at = ((n * xs[1] + r) * xs[2] + q) * xs[3] + c;
                const auto v = static_cast<double>(x[at]);
                places.push_back(at);
                ++seen;
                total += v;
                if (v > best) best = v, where = at;
              }
            const tg::extent to = ((n * ys[1] + i) * ys[2] + j) * ys[3] + c;
            largest[to] = best;
            mean[to] = total / static_cast<double>(seen);
            by_largest[where] += static_cast<double>(dy[to]);
            for (const tg::extent at : places) by_mean[at] += static_cast<double>(dy[to]) / static_cast<double>(seen);
          }
  }
};

template <class T>
void check_close(const tg::tensor<T>& value, const tg::tensor<double>& expected, double tolerance) {
  REQUIRE(value.dims() == expected.dims());
  double worst = 0;
  for (tg::extent i = 0; i < expected.dims().elements(); ++i) {
    const double error = std::abs(static_cast<double>(value[i]) - expected[i]) / std::fmax(1.0, std::abs(expected[i]));
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= tolerance);
}

template <class T, tg::window Size, tg::pool_options Options>
void check_pooling(std::initializer_list<tg::shape> images, double tolerance) {
  const auto x = tg::placeholder<"x", T, tg::dyn, tg::dyn, tg::dyn, tg::dyn>();
  const auto u = tg::placeholder<"u", T, tg::dyn, tg::dyn, tg::dyn, tg::dyn>();
  const auto largest = tg::max_pool<Size, Options>(x);
  const auto mean = tg::average_pool<Size, Options>(x);
  const auto weighted = tg::sum(largest * u);
  const auto weighted_mean = tg::sum(mean * u);
  const auto by_largest = tg::gradient(weighted, x);
  const auto by_mean = tg::gradient(weighted_mean, x);
  const auto program = tg::compile([=] { return tg::outputs(largest, mean, by_largest, by_mean); });
  tg::session session(program);
  tg::pool_options o = Options;
  if (o.stride == tg::window(0, 0)) o.stride = Size;
  for (const tg::shape& dims : images) {
    INFO("images " << tg::to_string(dims));
    const auto xs = numbers<T>(dims, 1);
    const auto ys = session.run(largest, x = xs);
    const auto us = numbers<T>(ys.dims(), 2);
    const reference expected(xs, us, Size, o);
    check_close(ys, expected.largest, 0);
    check_close(session.run(mean, x = xs), expected.mean, tolerance);
    check_close(session.run(by_largest, x = xs, u = us), expected.by_largest, tolerance);
    check_close(session.run(by_mean, x = xs, u = us), expected.by_mean, tolerance);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("pooling is what its definition says", "[pool]", float, double) {
  using T = TestType;
  check_pooling<T, tg::window(2), tg::pool_options{}>({{2, 4, 6, 16}, {1, 5, 7, 3}, {3, 2, 2, 11}}, 1e-5);
  check_pooling<T, tg::window(3), tg::pool_options{.stride = 2, .padding = tg::same_padding}>(
      {{2, 4, 6, 8}, {1, 5, 7, 19}, {1, 1, 1, 1}}, 1e-5);
  check_pooling<T, tg::window(2, 3), tg::pool_options{.stride = 1, .padding = {1, 0, 2, 1}}>({{2, 4, 5, 9}}, 1e-5);
  check_pooling<T, tg::window(2), tg::pool_options{.stride = 3, .padding = tg::same_padding}>({{2, 7, 8, 9}}, 1e-5);
}

TEST_CASE("16-bit pooling rounds once for each window", "[pool]") {
  check_pooling<tg::float16, tg::window(2), tg::pool_options{}>({{2, 4, 6, 12}}, 1e-2);
}

TEST_CASE("many images are pooled by several threads", "[pool]") {
  check_pooling<float, tg::window(2), tg::pool_options{}>({{40, 24, 24, 8}}, 1e-5);
}

TEST_CASE("a NaN is the maximum of its window and receives its gradient", "[pool]") {
  const auto x = tg::placeholder<"x", float, 1, 2, 4, 1>();
  const auto y = tg::max_pool<2>(x);
  const auto dx = tg::gradient(y, x);
  tg::session session(tg::compile([=] { return tg::outputs(y, dx); }));
  const float nan = std::nanf("");
  const tg::tensor<float> image(tg::shape{1, 2, 4, 1}, {5, 1, 2, 3, nan, 2, 1, 0});
  const auto [value, gradient] = session.run(tg::fetch(y, dx), x = image);
  CHECK(std::isnan(value[0]));
  CHECK(value[1] == 3.0f);
  const float expected[] = {0, 0, 0, 1, 1, 0, 0, 0};
  for (tg::extent i = 0; i < 8; ++i) CHECK(gradient[i] == expected[i]);
}

TEST_CASE("images without rows or columns have nothing for a window, whatever is around them", "[pool]") {
  constexpr tg::pool_options around{.stride = 1, .padding = 2};
  const auto x = tg::placeholder<"x", float, tg::dyn, tg::dyn, tg::dyn, 3>();
  const auto largest = tg::max_pool<3, around>(x);
  const auto mean = tg::average_pool<3, around>(x);
  tg::session session(tg::compile([=] { return tg::outputs(largest, mean); }));
  for (const tg::shape& dims : {tg::shape{1, 0, 5, 3}, tg::shape{1, 5, 0, 3}}) {
    const tg::tensor<float> none(dims);
    CHECK(tg::test::text_of([&] {
            (void)session.run(largest, x = none);
          }).find("the images have no elements for a window") != std::string::npos);
    CHECK(tg::test::text_of([&] {
            (void)session.run(mean, x = none);
          }).find("the images have no elements for a window") != std::string::npos);
  }
  CHECK(session.run(largest, x = tg::tensor<float>(tg::shape{0, 1, 5, 3})).dims() == tg::shape{0, 3, 7, 3});
}

TEST_CASE("global pooling leaves one element for each channel", "[pool]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3, 2, 5>();
  const auto mean = tg::global_average_pool(x);
  const auto largest = tg::global_max_pool(x);
  tg::session session(tg::compile([=] { return tg::outputs(mean, largest); }));
  const auto xs = numbers<double>({2, 3, 2, 5}, 4);
  const auto [m, l] = session.run(tg::fetch(mean, largest), x = xs);
  REQUIRE(m.dims() == tg::shape{2, 5});
  REQUIRE(l.dims() == tg::shape{2, 5});
  for (tg::extent n = 0; n < 2; ++n)
    for (tg::extent c = 0; c < 5; ++c) {
      double total = 0, best = -1e300;
      for (tg::extent i = 0; i < 6; ++i) {
        total += xs[(n * 6 + i) * 5 + c];
        best = std::fmax(best, xs[(n * 6 + i) * 5 + c]);
      }
      CHECK(m[n * 5 + c] == Approx(total / 6));
      CHECK(l[n * 5 + c] == best);
    }
}
