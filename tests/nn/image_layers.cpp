// SPDX-License-Identifier: BSL-1.0
// Layers around convolutions and sequences: also those of norm_layers.hpp and sequential.hpp.
#include "tagma/nn/image_layers.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradient_check.hpp"
#include "support/waves.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tagma::test::waves;

namespace {

void check_equal(const tg::tensor<double>& got, const tg::tensor<double>& expected) {
  REQUIRE(got.dims() == expected.dims());
  for (tg::extent i = 0; i < got.dims().elements(); ++i)
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-11).margin(1e-13));
}

}  // namespace

TEST_CASE("the root of mean squares of narrow elements is taken of wide ones", "[image_layers]") {
  const auto check = []<class T>(T) {
    const auto x = tg::placeholder<"x", T, tg::dyn, 4>();
    const auto y = tg::rms_norm<"r">(x);
    const auto slope = tg::gradient(tg::sum(tg::square(y)), tg::variable<"r/gamma", T, 4>(tg::ones));
    tg::session session(tg::compile([=] { return tg::outputs(y, slope); }));
    const float values[] = {300, -300, 600, 0, 0.0005f, 0, 0, 0};  // 600^2 is above the range of float16
    tg::tensor<T> xs(tg::shape{2, 4});
    for (tg::extent i = 0; i < 8; ++i) xs[i] = static_cast<T>(values[i]);
    const auto [got, slopes] = session.run(tg::fetch(y, slope), x = xs);
    for (tg::extent i = 0; i < 8; ++i) {
      double power = i < 4 ? (300.0 * 300 * 2 + 600.0 * 600) / 4 : 0.0005 * 0.0005 / 4;
      CHECK(static_cast<float>(got[i]) == Approx(values[i] / std::sqrt(power + 1e-6)).epsilon(0.02).margin(1e-6));
    }
    CHECK(static_cast<float>(slopes[2]) == Approx(2 * 600.0 * 600 / 135000).epsilon(0.02));
  };
  check(tg::float16{});
  check(tg::bfloat16{});
}

TEST_CASE("a convolution along time is its definition", "[image_layers]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 7, 4>();
  const auto kernel = tg::variable<"c/kernel", double, 3, 2, 6>(tg::glorot_uniform);
  const auto plain = tg::conv1d<"c", 6, 3, tg::conv1d_options{.stride = 2, .groups = 2}>(x);
  const auto same = tg::conv1d<"c", 6, 3, tg::conv1d_options{.same = true, .groups = 2}>(x, tg::relu);
  const auto causal = tg::conv1d<"c", 6, 3, tg::conv1d_options{.causal = true, .dilation = 2, .groups = 2}>(x);
  const auto loss = tg::sum(tg::sin(plain)) + tg::sum(tg::square(causal));
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(kernel, plain, same, causal, loss, slope); }), {.seed = 4});
  const auto xs = waves({2, 7, 4}, 0.2), k = session.run(kernel);
  const auto expected = [&](tg::extent positions, tg::extent stride, tg::extent dilation, tg::extent before,
                            bool bound) {
    tg::tensor<double> y(tg::shape{2, positions, 6});
    for (tg::extent b = 0; b < 2; ++b)
      for (tg::extent t = 0; t < positions; ++t)
        for (tg::extent f = 0; f < 6; ++f) {
          double sum = 0;
          for (tg::extent i = 0; i < 3; ++i)
            for (tg::extent c = 0; c < 2; ++c)
              if (const tg::extent at = t * stride + i * dilation - before; at >= 0 && at < 7)
                sum += xs[(b * 7 + at) * 4 + f / 3 * 2 + c] * k[(i * 2 + c) * 6 + f];
          y[(b * positions + t) * 6 + f] = bound && sum < 0 ? 0 : sum;
        }
    return y;
  };
  check_equal(session.run(plain, x = xs), expected(3, 2, 1, 0, false));
  check_equal(session.run(same, x = xs), expected(7, 1, 1, 1, true));
  check_equal(session.run(causal, x = xs), expected(7, 1, 2, 4, false));
  tg::test::check_gradient([&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at); },
                           xs);
}

TEST_CASE("images are convolved channel by channel, made larger, and resized", "[image_layers]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3, 4, 2>();
  const auto kernel = tg::variable<"d/kernel", double, 2, 2, 1, 4>(tg::glorot_uniform);
  const auto depth = tg::depthwise_conv2d<"d", 2, 2>(x);
  const auto up = tg::upsample2d<2>(x);
  const auto large = tg::resize_bilinear<5, 7>(x);
  const auto small = tg::resize_bilinear<2, 3>(x);
  const auto loss = tg::sum(tg::sin(depth)) + tg::sum(tg::square(up)) + tg::sum(tg::sin(large)) + tg::sum(small);
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(kernel, depth, up, large, small, loss, slope); }),
                      {.seed = 4});
  const auto xs = waves({2, 3, 4, 2}, 0.5), k = session.run(kernel);
  const auto pixel = [&](tg::extent b, tg::extent i, tg::extent j, tg::extent c) {
    return xs[((b * 3 + i) * 4 + j) * 2 + c];
  };
  /// Every pixel by a function of its place.
  const auto made = [](tg::extent h, tg::extent w, tg::extent channels, auto f) {
    tg::tensor<double> y(tg::shape{2, h, w, channels});
    tg::extent n = 0;
    for (tg::extent b = 0; b < 2; ++b)
      for (tg::extent i = 0; i < h; ++i)
        for (tg::extent j = 0; j < w; ++j)
          for (tg::extent c = 0; c < channels; ++c) y[n++] = f(b, i, j, c);
    return y;
  };
  check_equal(session.run(depth, x = xs), made(2, 3, 4, [&](auto b, auto i, auto j, auto f) {
                double sum = 0;
                for (tg::extent a = 0; a < 2; ++a)
                  for (tg::extent e = 0; e < 2; ++e) sum += pixel(b, i + a, j + e, f / 2) * k[(a * 2 + e) * 4 + f];
                return sum;
              }));
  check_equal(session.run(up, x = xs),
              made(6, 8, 2, [&](auto b, auto i, auto j, auto c) { return pixel(b, i / 2, j / 2, c); }));
  const auto between = [&](tg::extent h, tg::extent w) {
    return made(h, w, 2, [&](auto b, auto i, auto j, auto c) {
      const auto at = [](tg::extent place, tg::extent from, tg::extent to) {
        const double middle = (static_cast<double>(place) + 0.5) * static_cast<double>(from) / static_cast<double>(to);
        return std::fmin(std::fmax(middle - 0.5, 0), static_cast<double>(from - 1));
      };
      const double r = at(i, 3, h), s = at(j, 4, w);
      const auto r0 = static_cast<tg::extent>(r), s0 = static_cast<tg::extent>(s);
      const tg::extent r1 = r0 < 2 ? r0 + 1 : r0, s1 = s0 < 3 ? s0 + 1 : s0;
      const double dr = r - static_cast<double>(r0), ds = s - static_cast<double>(s0);
      return (1 - dr) * ((1 - ds) * pixel(b, r0, s0, c) + ds * pixel(b, r0, s1, c)) +
             dr * ((1 - ds) * pixel(b, r1, s0, c) + ds * pixel(b, r1, s1, c));
    });
  };
  check_equal(session.run(large, x = xs), between(5, 7));
  check_equal(session.run(small, x = xs), between(2, 3));
  tg::test::check_gradient([&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at); },
                           xs);
}

TEST_CASE("groups of channels and roots of mean squares are normalised", "[image_layers]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3, 4>();
  const auto groups = tg::group_norm<"g", 2>(x);
  const auto fine = tg::group_norm<"f", 2>(x, 1e-5);
  const auto root = tg::rms_norm<"r">(x, 0.1);
  const auto shift = tg::assign(tg::variable<"g/beta", double, 4>(tg::zeros), tg::placeholder<"shift", double, 4>());
  const auto stretch = tg::assign(tg::variable<"r/gamma", double, 4>(tg::ones), tg::placeholder<"shift", double, 4>());
  const auto loss = tg::sum(tg::sin(groups)) + tg::sum(tg::sin(root));
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(groups, fine, root, shift, stretch, loss, slope); }));
  const tg::tensor<double> by(tg::shape{4}, {1, 2, 3, 4});
  session.run(tg::fetch(shift, stretch), tg::placeholder<"shift", double, 4>() = by);
  const auto xs = waves({2, 3, 4}, 0.3);
  const auto expected = [&](double epsilon, double beta) {
    tg::tensor<double> y(xs.dims());
    for (tg::extent b = 0; b < 2; ++b)
      for (tg::extent g = 0; g < 2; ++g) {
        const auto each = [&](auto f) {
          for (tg::extent t = 0; t < 3; ++t)
            for (tg::extent c = 2 * g; c < 2 * g + 2; ++c) f(b * 12 + t * 4 + c, c);
        };
        double mean = 0, variance = 0;
        each([&](auto i, auto) { mean += xs[i] / 6; });
        each([&](auto i, auto) { variance += (xs[i] - mean) * (xs[i] - mean) / 6; });
        each([&](auto i, auto c) { y[i] = (xs[i] - mean) / std::sqrt(variance + epsilon) + beta * by[c]; });
      }
    return y;
  };
  check_equal(session.run(groups, x = xs), expected(1e-3, 1));
  check_equal(session.run(fine, x = xs), expected(1e-5, 0));
  tg::tensor<double> rooted(xs.dims());
  for (tg::extent r = 0; r < 6; ++r) {
    double squares = 0;
    for (tg::extent c = 0; c < 4; ++c) squares += xs[r * 4 + c] * xs[r * 4 + c] / 4;
    for (tg::extent c = 0; c < 4; ++c) rooted[r * 4 + c] = xs[r * 4 + c] / std::sqrt(squares + 0.1) * by[c];
  }
  check_equal(session.run(root, x = xs), rooted);
  tg::test::check_gradient([&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at); },
                           xs);
}

TEST_CASE("layers in turn, and sequences read from both ends", "[image_layers]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn, 3>();
  const auto model = tg::sequential([](const auto& e) { return tg::dense<"a", 4>(e); }, tg::relu,
                                    tg::sequential([](const auto& e) { return tg::dense<"b", 2>(e); }));
  const auto turned = model(x);
  const auto by_hand = tg::dense<"b", 2>(tg::dense<"a", 4>(x, tg::relu));
  const auto all =
      tg::bidirectional<"both">([](const auto& e) { return tg::gru<"gru", 2>(e, tg::return_sequences); })(x);
  const auto last = tg::bidirectional<"both">([](const auto& e) { return tg::gru<"gru", 2>(e); })(x);
  const auto back = tg::reverse<1>(x);
  const auto ahead = tg::scope<"both/forward">(tg::gru<"gru", 2>(x, tg::return_sequences));
  const auto behind = tg::scope<"both/backward">(tg::gru<"gru", 2>(back, tg::return_sequences));
  const auto loss = tg::sum(tg::sin(all));
  const auto slope = tg::gradient(loss, x);
  tg::session session(
      tg::compile([=] { return tg::outputs(turned, by_hand, all, last, back, ahead, behind, loss, slope); }),
      {.seed = 9});
  const auto xs = waves({2, 3, 3}, 0.6);
  const auto [a, b] = session.run(tg::fetch(turned, by_hand), x = xs);
  check_equal(a, b);
  const auto [both, ends, reversed, to, from] = session.run(tg::fetch(all, last, back, ahead, behind), x = xs);
  REQUIRE(both.dims() == tg::shape{2, 3, 4});
  REQUIRE(ends.dims() == tg::shape{2, 4});
  for (tg::extent n = 0; n < 2; ++n)
    for (tg::extent t = 0; t < 3; ++t) {
      for (tg::extent c = 0; c < 3; ++c) CHECK(reversed[n * 9 + t * 3 + c] == xs[n * 9 + (2 - t) * 3 + c]);
      for (tg::extent u = 0; u < 2; ++u) {
        CHECK(both[n * 12 + t * 4 + u] == Approx(to[n * 6 + t * 2 + u]));
        CHECK(both[n * 12 + t * 4 + 2 + u] == Approx(from[n * 6 + (2 - t) * 2 + u]));
        CHECK(ends[n * 4 + u] == Approx(to[n * 6 + 4 + u]));
        CHECK(ends[n * 4 + 2 + u] == Approx(from[n * 6 + 4 + u]));
      }
    }
  tg::test::check_gradient([&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at); },
                           xs);
}
