// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/conv.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/kernel_call.hpp"
#include "support/one_convolution.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

template <class T>
tg::tensor<T> numbers(const tg::shape& dims, int seed) {
  tg::tensor<T> t(dims);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 12345u;
  for (T& v : t.span()) {
    state = state * 1664525u + 1013904223u;
    v = T(static_cast<float>(state >> 16) / 32768.0f - 1.0f);
  }
  return t;
}

// What convolutions are, element by element and in double: the output, and the gradients by images and filter.
struct reference {
  tg::tensor<double> y, dx, dw;

  template <class T>
  reference(const tg::tensor<T>& x, const tg::tensor<T>& w, const tg::tensor<T>& dy, const tg::conv_options& o)
      : y(dy.dims()), dx(x.dims()), dw(w.dims()) {
    const tg::shape &xs = x.dims(), &ws = w.dims(), &ys = dy.dims();
    for (double& v : y.span()) v = 0;
    for (double& v : dx.span()) v = 0;
    for (double& v : dw.span()) v = 0;
    const auto first = [&](tg::extent in, tg::extent out, tg::extent size, int stride, int dilation, int before) {
      if (!o.padding.automatic) return tg::extent{before};
      const tg::extent missing = (out - 1) * stride + (size - 1) * dilation + 1 - in;
      return missing > 0 ? missing / 2 : 0;
    };
    const tg::extent top = first(xs[1], ys[1], ws[0], o.stride.height, o.dilation.height, o.padding.top);
    const tg::extent left = first(xs[2], ys[2], ws[1], o.stride.width, o.dilation.width, o.padding.left);
    const tg::extent own = ws[3] / o.groups;
    for (tg::extent n = 0; n < ys[0]; ++n)
      for (tg::extent i = 0; i < ys[1]; ++i)
        for (tg::extent j = 0; j < ys[2]; ++j)
          for (tg::extent f = 0; f < ys[3]; ++f)
            for (tg::extent a = 0; a < ws[0]; ++a)
              for (tg::extent b = 0; b < ws[1]; ++b)
                for (tg::extent c = 0; c < ws[2]; ++c) {
                  const tg::extent r = i * o.stride.height + a * o.dilation.height - top;
                  const tg::extent q = j * o.stride.width + b * o.dilation.width - left;
                  if (r < 0 || r >= xs[1] || q < 0 || q >= xs[2]) continue;
                  const tg::extent xi = ((n * xs[1] + r) * xs[2] + q) * xs[3] + f / own * ws[2] + c;
                  const tg::extent wi = ((a * ws[1] + b) * ws[2] + c) * ws[3] + f;
                  const tg::extent yi = ((n * ys[1] + i) * ys[2] + j) * ys[3] + f;
                  const auto d = static_cast<double>(dy[yi]);
                  y[yi] += static_cast<double>(x[xi]) * static_cast<double>(w[wi]);
                  dx[xi] += d * static_cast<double>(w[wi]);
                  dw[wi] += d * static_cast<double>(x[xi]);
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

// The kernels see shapes only when they run, so one program of dynamic extents serves all images of one filter.
template <class T, tg::conv_options Options, tg::extent KH, tg::extent KW, tg::extent C, tg::extent F>
struct convolution_check {
  static void run(std::initializer_list<tg::shape> images, double tolerance) {
    const auto x = tg::placeholder<"x", T, tg::dyn, tg::dyn, tg::dyn, C * Options.groups>();
    const auto w = tg::placeholder<"w", T, KH, KW, C, F>();
    const auto u = tg::placeholder<"u", T, tg::dyn, tg::dyn, tg::dyn, F>();
    const auto y = tg::conv2d<Options>(x, w);
    const auto total = tg::sum(y * u);
    const auto dx = tg::gradient(total, x);
    const auto dw = tg::gradient(total, w);
    const auto program = tg::compile([=] { return tg::outputs(y, dx, dw); });
    tg::session session(program);
    for (const tg::shape& image : images) {
      const auto xs = numbers<T>({image[0], image[1], image[2], C * Options.groups}, 1);
      const auto ws = numbers<T>({KH, KW, C, F}, 2);
      const auto shape_of = session.run(y, x = xs, w = ws);
      const auto us = numbers<T>(shape_of.dims(), 3);
      const reference expected(xs, ws, us, Options);
      INFO("images " << tg::to_string(image));
      check_close(shape_of, expected.y, tolerance);
      const auto [again, gx, gw] = session.run(tg::fetch(y, dx, dw), x = xs, w = ws, u = us);
      check_close(again, expected.y, tolerance);
      check_close(gx, expected.dx, tolerance);
      check_close(gw, expected.dw, tolerance);
    }
  }
};

template <class T>
constexpr double tolerance_of = 2e-4;
template <>
constexpr double tolerance_of<double> = 1e-12;

}  // namespace

TEMPLATE_TEST_CASE("convolutions are what their definition says", "[conv]", float, double) {
  using T = TestType;
  constexpr double t = tolerance_of<T>;
  convolution_check<T, tg::conv_options{}, 3, 3, 4, 5>::run({{2, 6, 7, 0}, {1, 3, 3, 0}}, t);
  convolution_check<T, tg::conv_options{.padding = tg::same_padding}, 5, 4, 1, 32>::run({{19, 28, 28, 0}}, t);
  convolution_check<T, tg::conv_options{.stride = {2, 3}, .padding = tg::same_padding}, 3, 2, 3, 4>::run(
      {{2, 7, 8, 0}, {1, 1, 1, 0}, {3, 8, 9, 0}}, t);
  convolution_check<T, tg::conv_options{.stride = 3, .padding = tg::same_padding}, 1, 1, 8, 8>::run({{2, 7, 5, 0}}, t);
  convolution_check<T, tg::conv_options{}, 1, 1, 8, 8>::run({{2, 7, 5, 0}, {1, 1, 1, 0}}, t);
  convolution_check<T, tg::conv_options{.groups = 2}, 1, 1, 4, 8>::run({{2, 7, 5, 0}}, t);
  convolution_check<T, tg::conv_options{.padding = {1, 2, 0, 3}, .dilation = {2, 1}}, 3, 3, 2, 3>::run({{2, 6, 5, 0}},
                                                                                                       t);
  convolution_check<T, tg::conv_options{.stride = 2, .padding = 1, .dilation = 2, .groups = 2}, 2, 3, 3, 4>::run(
      {{2, 7, 8, 0}}, t);
  convolution_check<T, tg::conv_options{.padding = tg::same_padding, .groups = 6}, 3, 3, 1, 6>::run({{2, 5, 5, 0}}, t);
}

TEST_CASE("a batch that is split gives the gradient of the whole", "[conv]") {
  convolution_check<float, tg::conv_options{.padding = tg::same_padding}, 5, 5, 8, 16>::run({{37, 14, 14, 0}}, 1e-3);
  convolution_check<double, tg::conv_options{.padding = tg::same_padding}, 5, 5, 4, 8>::run({{37, 14, 14, 0}}, 1e-11);
}

TEST_CASE("an image with much work is split into bands of rows", "[conv]") {
  convolution_check<float, tg::conv_options{.padding = tg::same_padding}, 3, 3, 32, 64>::run({{1, 32, 32, 0}}, 1e-3);
}

TEST_CASE("bands of rows are the image, and see what it sees", "[conv]") {
  namespace cpu = tg::device::cpu::detail;
  using tg::device::conv_axis;
  for (const auto& [in, size, stride, dilation, before, after] : {std::array{224, 7, 2, 1, 3, 3},
                                                                  {57, 3, 1, 1, 1, 1},
                                                                  {57, 3, 3, 4, 0, 5},
                                                                  {64, 1, 2, 1, 0, 0},
                                                                  {33, 5, 1, 2, 9, 0}}) {
    cpu::conv_problem p(tg::shape{1, in, 64, 64}, tg::shape{size, 3, 64, 64}, tg::shape{1, 1, 64, 64},
                        tg::detail::conv_attributes<tg::conv_options{}>.values);
    p.rows.in = in, p.rows.size = size, p.rows.stride = stride, p.rows.dilation = dilation;
    p.rows.before = before, p.rows.after = after;
    p.rows.out = (in + before + after - (size - 1) * dilation - 1) / stride + 1;
    p.split(16, 4e6);
    p.split_rows(8, 1e5);
    INFO("rows " << in << ", window " << size << " by " << stride);
    REQUIRE(p.bands > 1);
    CHECK(p.parts == p.bands);
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < p.bands; ++b) {
      const cpu::conv_problem::band one = p.band_of(b);
      CHECK(one.first_out == next);
      next += one.rows.out;
      CHECK(one.rows.in > 0);
      CHECK(one.first_in + one.rows.in <= in);
      // The same elements as in the whole, and as many rows as there are.
      for (std::int64_t o = 0; o < one.rows.out; ++o)
        for (std::int64_t a = 0; a < size; ++a) {
          const std::int64_t seen = p.rows.seen(one.first_out + o, a), here = one.rows.seen(o, a);
          const bool inside = here >= 0 && here < one.rows.in;
          REQUIRE(inside == (seen >= 0 && seen < in));
          if (inside) REQUIRE(here + one.first_in == seen);
        }
      CHECK(one.rows.in + one.rows.before + one.rows.after == (one.rows.out - 1) * stride + (size - 1) * dilation + 1);
    }
    CHECK(next == p.rows.out);
  }
}

TEST_CASE("16-bit convolutions are computed in float and rounded once", "[conv]") {
  convolution_check<tg::float16, tg::conv_options{.padding = tg::same_padding}, 3, 3, 3, 5>::run({{2, 5, 6, 0}}, 1e-3);
  convolution_check<tg::bfloat16, tg::conv_options{.stride = 2}, 3, 3, 3, 5>::run({{2, 5, 6, 0}}, 5e-3);
}

TEMPLATE_TEST_CASE("16-bit convolutions of single elements are what their definition says, by any threads", "[conv]",
                   tg::float16, tg::bfloat16) {
  using T = TestType;
  namespace op = tg::op;
  const auto attributes_of = [](tg::extent height, tg::extent width) {
    const auto& packed = tg::detail::conv_attributes<tg::conv_options{}>;
    std::vector<tg::ir::attribute> all(packed.values, packed.values + 3);
    if (height > 0) all.insert(all.end(), {height, width});
    return all;
  };
  std::mt19937 random(41);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n) + 1; };
  std::vector<std::array<tg::extent, 5>> all{{1, 1, 1, 1, 1},   {1, 1, 1, 3, 5},     {2, 5, 3, 1, 7},
                                             {3, 7, 9, 17, 33}, {8, 14, 14, 64, 64}, {1, 40, 50, 130, 32},
                                             {2, 8, 8, 256, 1}, {0, 4, 4, 8, 8}};
  for (int round = 0; round < 8; ++round) all.push_back({below(5), below(9), below(9), below(70), below(70)});
  for (const auto& [images, height, width, channels, filters] : all) {
    INFO(images << " x " << height << " x " << width << " x " << channels << " by " << filters);
    const auto seed = static_cast<int>(random() % 1000);
    const auto x = numbers<T>({images, height, width, channels}, seed),
               w = numbers<T>({1, 1, channels, filters}, seed + 1),
               dy = numbers<T>({images, height, width, filters}, seed + 2);
    const reference expected(x, w, dy, tg::conv_options{});
    tg::tensor<T> y(dy.dims()), dx(x.dims()), dw(w.dims()), other_y(y.dims()), other_dx(x.dims()), other_dw(w.dims());
    const auto run = [&, h = height, v = width](int threads, tg::tensor<T>& forward, tg::tensor<T>& by_x,
                                                tg::tensor<T>& by_w) {
      tg::test::call_with<op::conv2d>({.threads = threads}, forward, attributes_of(0, 0), x, w);
      tg::test::call_with<op::conv2d_input_gradient>({.threads = threads}, by_x, attributes_of(h, v), dy, w);
      tg::test::call_with<op::conv2d_filter_gradient>({.threads = threads}, by_w, attributes_of(0, 0), x, dy);
    };
    run(1, y, dx, dw);
    check_close(y, expected.y, 5e-3);
    check_close(dx, expected.dx, 5e-3);
    check_close(dw, expected.dw, 5e-3);
    for (const int threads : {2, 5}) {
      run(threads, other_y, other_dx, other_dw);
      const auto same = [](const tg::tensor<T>& a, const tg::tensor<T>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), [](T p, T q) { return p.bits == q.bits; });
      };
      CHECK(same(y, other_y));
      CHECK(same(dx, other_dx));
      CHECK(same(dw, other_dw));
    }
  }
}

TEST_CASE("16-bit filters of one element with steps, borders, groups or a bias", "[conv]") {
  using T = tg::bfloat16;
  constexpr double t = 5e-3;
  convolution_check<T, tg::conv_options{}, 1, 1, 8, 16>::run({{2, 6, 7, 0}, {1, 1, 1, 0}}, t);
  convolution_check<T, tg::conv_options{.stride = 2}, 1, 1, 8, 16>::run({{2, 6, 7, 0}}, t);
  convolution_check<T, tg::conv_options{.padding = {1, 1, 1, 1}}, 1, 1, 8, 16>::run({{2, 6, 7, 0}}, t);
  convolution_check<T, tg::conv_options{.groups = 2}, 1, 1, 8, 16>::run({{2, 6, 7, 0}}, t);
  // The sum and the bias are rounded once, together.
  const tg::tensor<T> x(tg::shape{1, 1, 1, 1}, {T(1 + 1 / 128.0f)}), w = x, bias(tg::shape{1}, {T(-1 - 1 / 64.0f)});
  tg::tensor<T> y(tg::shape{1, 1, 1, 1});
  const auto& packed = tg::detail::conv_attributes<tg::conv_options{}>;
  std::vector<tg::ir::attribute> attributes(packed.values, packed.values + 3);
  attributes.push_back(1);
  tg::test::call<tg::op::conv2d_bias>(y, attributes, x, w, bias);
  CHECK(static_cast<float>(y[0]) == 1 / 16384.0f);
}

TEMPLATE_TEST_CASE("bias and relu belong to the convolution", "[conv]", float, double) {
  using T = TestType;
  const auto x = tg::placeholder<"x", T, tg::dyn, 6, 5, 3>();
  const auto w = tg::placeholder<"w", T, 3, 3, 3, 11>();
  const auto b = tg::placeholder<"b", T, 11>();
  const auto plain = tg::conv2d(x, w) + b;
  const auto biased = tg::conv2d(x, w, b);
  const auto fused = tg::conv2d(x, w, b, tg::relu);
  const auto smooth = tg::conv2d(x, w, b, tg::tanh);
  const auto db = tg::gradient(fused, b);
  const auto dw = tg::gradient(fused, w);
  const auto dx = tg::gradient(fused, x);
  const auto rectified = tg::relu(plain);
  const auto rb = tg::gradient(rectified, b);
  const auto rw = tg::gradient(rectified, w);
  const auto rx = tg::gradient(rectified, x);
  const auto curved = tg::tanh(plain);
  const auto program =
      tg::compile([=] { return tg::outputs(rectified, plain, curved, biased, fused, smooth, db, dw, dx, rb, rw, rx); });
  tg::session session(program);
  const auto xs = numbers<T>({3, 6, 5, 3}, 1);
  const auto ws = numbers<T>({3, 3, 3, 11}, 2);
  const auto bs = numbers<T>({11}, 3);
  const auto close = [](const auto& a, const auto& e) {
    tg::tensor<double> wide(e.dims());
    for (tg::extent i = 0; i < e.dims().elements(); ++i) wide[i] = static_cast<double>(e[i]);
    check_close(a, wide, tolerance_of<T>);
  };
  close(session.run(biased, x = xs, w = ws, b = bs), session.run(plain, x = xs, w = ws, b = bs));
  close(session.run(fused, x = xs, w = ws, b = bs), session.run(rectified, x = xs, w = ws, b = bs));
  close(session.run(smooth, x = xs, w = ws, b = bs), session.run(curved, x = xs, w = ws, b = bs));
  close(session.run(db, x = xs, w = ws, b = bs), session.run(rb, x = xs, w = ws, b = bs));
  close(session.run(dw, x = xs, w = ws, b = bs), session.run(rw, x = xs, w = ws, b = bs));
  close(session.run(dx, x = xs, w = ws, b = bs), session.run(rx, x = xs, w = ws, b = bs));
}

TEST_CASE("a batch without images has a filter gradient of zero", "[conv]") {
  const auto x = tg::placeholder<"x", float, tg::dyn, 6, 6, 3>();
  const auto w = tg::placeholder<"w", float, 3, 3, 3, 2>();
  const auto y = tg::conv2d(x, w);
  const auto dw = tg::gradient(y, w);
  tg::session session(tg::compile([=] { return tg::outputs(y, dw); }));
  const auto [value, gradient] =
      session.run(tg::fetch(y, dw), x = tg::tensor<float>(tg::shape{0, 6, 6, 3}), w = numbers<float>({3, 3, 3, 2}, 1));
  CHECK(value.dims() == tg::shape{0, 4, 4, 2});
  for (const float v : gradient.span()) CHECK(v == 0.0f);
}

TEST_CASE("the number of threads does not change a bit of one image", "[conv]") {
  const auto x = tg::placeholder<"x", float, 1, 56, 56, 64>();
  const auto w = tg::placeholder<"w", float, 3, 3, 64, 64>();
  const auto b = tg::placeholder<"b", float, 64>();
  const auto y = tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(x, w, b, tg::relu);
  const auto program = tg::compile([=] { return tg::outputs(y); });
  const auto xs = numbers<float>({1, 56, 56, 64}, 1), ws = numbers<float>({3, 3, 64, 64}, 2),
             bs = numbers<float>({64}, 3);
  const auto with = [&](int threads) {
    tg::session session(program, {.intra_op_threads = threads});
    return session.run(y, x = xs, w = ws, b = bs);
  };
  const auto one = with(1), three = with(3);
  CHECK(std::equal(one.span().begin(), one.span().end(), three.span().begin(), three.span().end()));
}

TEST_CASE("the number of threads does not change a bit", "[conv]") {
  const auto x = tg::placeholder<"x", float, 16, 14, 14, 16>();
  const auto w = tg::placeholder<"w", float, 5, 5, 16, 32>();
  const auto y = tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(x, w);
  const auto dx = tg::gradient(y, x);
  const auto dw = tg::gradient(y, w);
  const auto program = tg::compile([=] { return tg::outputs(y, dx, dw); });
  const auto xs = numbers<float>({16, 14, 14, 16}, 1);
  const auto ws = numbers<float>({5, 5, 16, 32}, 2);
  const auto with = [&](int threads) {
    tg::session session(program, {.intra_op_threads = threads});
    return session.run(tg::fetch(y, dx, dw), x = xs, w = ws);
  };
  const auto one = with(1), three = with(3);
  const auto equal = [](const tg::tensor<float>& a, const tg::tensor<float>& b) {
    return std::equal(a.span().begin(), a.span().end(), b.span().begin(), b.span().end());
  };
  CHECK(equal(std::get<0>(one), std::get<0>(three)));
  CHECK(equal(std::get<1>(one), std::get<1>(three)));
  CHECK(equal(std::get<2>(one), std::get<2>(three)));
}

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN && DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
TEST_CASE("a common convolution and its gradients are primitives of oneDNN, whichever version", "[conv]") {
  namespace cpu = tg::device::cpu::detail;
  using tg::device::conv_role;
  constexpr auto attributes = tg::detail::conv_attributes<tg::conv_options{.padding = tg::same_padding}>;
  const tg::shape x{16, 14, 14, 16}, w{5, 5, 16, 32}, y{16, 14, 14, 32};
  const auto is_theirs = [&](conv_role role, const tg::shape& a, const tg::shape& b, const tg::shape& result) {
    cpu::conv_problem p(role, a, b, result, attributes.values);
    p.split(8, 4e6);
    return cpu::onednn_convolution<float>::make(p, role, {}, false, 1) != nullptr;
  };
  CHECK(is_theirs(conv_role::forward, x, w, y));
  CHECK(is_theirs(conv_role::input_gradient, y, w, x));
  CHECK(is_theirs(conv_role::filter_gradient, x, y, w));
}

template <tg::conv_options Options>
void check_bands(const tg::shape& x, const tg::shape& w, const tg::shape& y) {
  namespace cpu = tg::device::cpu::detail;
  using tg::device::conv_role;
  INFO("images " << tg::to_string(x) << ", filter " << tg::to_string(w));
  cpu::conv_problem whole(conv_role::forward, x, w, y, tg::detail::conv_attributes<Options>.values);
  whole.split(16, 1e4);
  cpu::conv_problem banded = whole;
  banded.split_rows(8, 1e4);
  REQUIRE(banded.bands > 1);
  const auto threads = tg::runtime::make_cpu_executor(3);
  const auto xs = numbers<float>(x, 1), ws = numbers<float>(w, 2);
  tg::tensor<float> expected(y), found(y);
  const tg::runtime::run_context context{.threads = threads.get()};
  cpu::onednn_convolution<float>::make(whole, conv_role::forward, {}, false, 1)
      ->run(xs.data(), ws.data(), nullptr, expected.data(), {}, context);
  cpu::onednn_convolution<float>::make(banded, conv_role::forward, {}, false, 1)
      ->run(xs.data(), ws.data(), nullptr, found.data(), {}, context);
  for (tg::extent i = 0; i < y.elements(); ++i) REQUIRE(found[i] == Approx(expected[i]).margin(1e-4));
}

TEST_CASE("bands of rows are convolved as the image is", "[conv]") {
  check_bands<tg::conv_options{.padding = tg::same_padding}>({1, 19, 12, 16}, {3, 3, 16, 16}, {1, 19, 12, 16});
  check_bands<tg::conv_options{}>({2, 24, 11, 16}, {5, 3, 16, 32}, {2, 20, 9, 32});
  check_bands<tg::conv_options{.stride = 2, .padding = tg::same_padding}>({1, 33, 16, 16}, {3, 3, 16, 16},
                                                                          {1, 17, 8, 16});
  check_bands<tg::conv_options{.padding = {5, 1, 0, 3}, .dilation = {3, 1}}>({2, 21, 10, 16}, {3, 3, 16, 16},
                                                                             {2, 21, 11, 16});
  check_bands<tg::conv_options{.stride = {3, 1}, .padding = 2, .dilation = 2, .groups = 2}>(
      {1, 40, 10, 32}, {3, 3, 16, 32}, {1, 14, 10, 32});
}
#endif

#if defined(__x86_64__)
namespace {

// One axis of a random convolution, with at least one result.
tg::device::conv_axis some_axis(std::mt19937& random, std::int64_t size) {
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  tg::device::conv_axis axis;
  axis.size = size, axis.stride = 1 + below(3), axis.dilation = 1 + below(3);
  axis.before = below(5), axis.after = below(5);
  const std::int64_t span = (size - 1) * axis.dilation + 1, least = span - axis.before - axis.after;
  axis.in = (least > 1 ? least : 1) + below(12);
  axis.out = (axis.in + axis.before + axis.after - span) / axis.stride + 1;
  return axis;
}

}  // namespace

TEST_CASE("convolutions by tiles are what their definition says, by any threads", "[conv]") {
  namespace cpu = tg::device::cpu::detail;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    WARN("skipped: this processor has no AVX2");
    return;
  }
  std::mt19937 random(20261129);
  const auto one = tg::runtime::make_cpu_executor(1), three = tg::runtime::make_cpu_executor(3);
  int tried = 0;
  for (int round = 0; round < 60; ++round) {
    const std::int64_t sizes[][2] = {{3, 3}, {1, 1}, {2, 3}, {1, 3}, {3, 1}, {1, 9}};
    const auto& size = sizes[random() % 6];
    cpu::conv_problem p(tg::shape{1, 1, 1, 1}, tg::shape{1, 1, 1, 1}, tg::shape{1, 1, 1, 1},
                        tg::detail::conv_attributes<tg::conv_options{}>.values);
    p.rows = some_axis(random, size[0]), p.columns = some_axis(random, size[1]);
    p.images = 1 + static_cast<std::int64_t>(random() % 4);
    p.channels = 32 + static_cast<std::int64_t>(random() % 40),
    p.filters = 64 + 16 * static_cast<std::int64_t>(random() % 3);
    INFO("round " << round << ": " << p.images << " images, " << p.rows.in << " x " << p.columns.in << " x "
                  << p.channels << ", windows " << size[0] << " x " << size[1] << ", " << p.filters << " filters");
    tg::device::conv_epilogue after;
    after.biased = random() % 2 == 0, after.relu = after.biased && random() % 2 == 0,
    after.six = after.relu && random() % 2 == 0;
    const auto tiles = cpu::direct_convolution<float>::make(p, after, false);
    if (tiles == nullptr) continue;
    ++tried;
    auto x = numbers<float>({p.images, p.rows.in, p.columns.in, p.channels}, round);
    const auto w = numbers<float>({p.rows.size, p.columns.size, p.channels, p.filters}, round + 1);
    const auto bias = numbers<float>({p.filters}, round + 2);
    if (random() % 4 == 0)
      x[static_cast<tg::extent>(random()) % x.dims().elements()] = std::numeric_limits<float>::quiet_NaN();
    const tg::shape dims{p.images, p.rows.out, p.columns.out, p.filters};
    tg::tensor<float> y(dims), other(dims);
    for (const auto& [threads, to] : {std::pair{one.get(), &y}, {three.get(), &other}}) {
      const tg::runtime::run_context context{.threads = threads};
      const tg::runtime::kernel_scope scope(*threads);
      tg::test::run_convolution(*tiles, x.data(), w.data(), after.biased ? bias.data() : nullptr, to->data(), p.images,
                                context);
    }
    REQUIRE(std::memcmp(y.data(), other.data(), static_cast<std::size_t>(dims.elements()) * sizeof(float)) == 0);
    const std::int64_t patch = p.patch();
    double worst = 0;
    bool nans = true;
    for (std::int64_t i = 0; i < dims.elements(); ++i) {
      const std::int64_t f = i % p.filters, column = i / p.filters % p.columns.out,
                         row = i / p.filters / p.columns.out % p.rows.out, n = i / p.output_size();
      double sum = after.biased ? static_cast<double>(bias[f]) : 0;
      for (std::int64_t k = 0; k < patch; ++k) {
        const std::int64_t c = k % p.channels, b = k / p.channels % p.columns.size, a = k / p.channels / p.columns.size;
        const std::int64_t r = p.rows.seen(row, a), q = p.columns.seen(column, b);
        if (r < 0 || r >= p.rows.in || q < 0 || q >= p.columns.in) continue;
        sum += static_cast<double>(x[((n * p.rows.in + r) * p.columns.in + q) * p.channels + c]) *
               static_cast<double>(w[k * p.filters + f]);
      }
      if (after.relu && sum < 0) sum = 0;
      if (after.six && sum > 6) sum = 6;
      if (sum != sum)
        nans = nans && y[i] != y[i];
      else
        worst = std::max(worst, std::abs(static_cast<double>(y[i]) - sum));
    }
    CHECK(nans);
    CHECK(worst < 1e-4);
  }
  CHECK(tried > 30);
}

TEST_CASE("tiles arrange a lasting filter again once somebody has written it", "[conv]") {
  namespace cpu = tg::device::cpu::detail;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    WARN("skipped: this processor has no AVX2");
    return;
  }
  const tg::shape dims{1, 4, 4, 32};
  cpu::conv_problem p(dims, tg::shape{3, 3, 32, 64}, tg::shape{1, 2, 2, 64},
                      tg::detail::conv_attributes<tg::conv_options{}>.values);
  CHECK(cpu::direct_convolution<float>::make(p, {}, true) == nullptr);  // four results are less than a tile
  p.images = 2;
  const auto tiles = cpu::direct_convolution<float>::make(p, {}, true);
  REQUIRE(tiles != nullptr);
  const auto x = numbers<float>({2, 4, 4, 32}, 1);
  const auto one = numbers<float>({3, 3, 32, 64}, 2), two = numbers<float>({3, 3, 32, 64}, 3);
  const auto threads = tg::runtime::make_cpu_executor(1);
  const auto run = [&](const tg::tensor<float>& w, std::uint64_t writes) {
    tg::tensor<float> y({2, 2, 2, 64});
    const tg::runtime::kernel_scope scope(*threads);
    tg::runtime::run_context context{.threads = threads.get()};
    context.writes = writes;
    tg::test::run_convolution(*tiles, x.data(), w.data(), nullptr, y.data(), p.images, context);
    return std::vector<float>(y.span().begin(), y.span().end());
  };
  const auto first = run(one, 1);
  CHECK((run(two, 1) == first));
  const auto second = run(two, 2);
  CHECK((second != first));
  CHECK((run(one, 3) == first));
}
#endif

TEST_CASE("a filter is arranged again once somebody has written it", "[conv]") {
  const auto x = tg::placeholder<"x", float, 1, 12, 12, 16>();
  const auto fed = tg::placeholder<"fed", float, 3, 3, 16, 16>();
  const auto w = tg::variable<"w", float, 3, 3, 16, 16>(tg::random_uniform(-1, 1));
  constexpr tg::conv_options same{.padding = tg::same_padding};
  const auto y = tg::conv2d<same>(x, w);
  const auto of_fed = tg::conv2d<same>(x, fed);
  const auto twice = tg::assign(w, w * 2.0F);
  const auto xs = numbers<float>({1, 12, 12, 16}, 1), ws = numbers<float>({3, 3, 16, 16}, 2);
  tg::session plain(tg::compile([=] { return tg::outputs(of_fed); }));
  const auto is_for = [&](const tg::tensor<float>& found, float times) {
    auto scaled = ws;
    for (float& v : scaled.span()) v *= times;
    const auto expected = plain.run(of_fed, x = xs, fed = scaled);
    return std::equal(found.span().begin(), found.span().end(), expected.span().begin());
  };
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session reader(tg::compile([=] { return tg::outputs(y); }), {.state = state});
    tg::session writer(tg::compile([=] { return tg::outputs(twice); }), {.state = state});
    for (int round = 0; round < 2; ++round) {
      reader.core().variable(0).assign(ws.data());
      for (int again = 0; again < 2; ++again) CHECK(is_for(reader.run(y, x = xs), 1));
      writer.run(twice);
      for (int again = 0; again < 2; ++again) CHECK(is_for(reader.run(y, x = xs), 2));
    }
  }
}

TEST_CASE("images that are smaller than the filter are refused when they are fed", "[conv]") {
  const auto x = tg::placeholder<"x", float, 1, tg::dyn, tg::dyn, 1>();
  const auto w = tg::placeholder<"w", float, 3, 3, 1, 1>();
  const auto y = tg::conv2d(x, w);
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  CHECK_THROWS_WITH(session.run(y, x = numbers<float>({1, 2, 5, 1}, 1), w = numbers<float>({3, 3, 1, 1}, 2)),
                    Catch::Contains("the filter is larger than the padded image"));
}

TEST_CASE("an image without columns is padding, all of it", "[conv]") {
  constexpr tg::conv_options around{.padding = 2};
  const auto x = tg::placeholder<"x", tg::bfloat16, tg::dyn, tg::dyn, tg::dyn, 2>();
  const auto w = tg::placeholder<"w", tg::bfloat16, 3, 3, 2, 5>();
  const auto y = tg::conv2d<around>(x, w);
  const auto dw = tg::gradient(y, w);
  tg::session session(tg::compile([=] { return tg::outputs(y, dw); }));
  const auto [result, slope] = session.run(tg::fetch(y, dw), x = tg::tensor<tg::bfloat16>(tg::shape{2, 4, 0, 2}),
                                           w = numbers<tg::bfloat16>({3, 3, 2, 5}, 1));
  REQUIRE(result.dims() == tg::shape{2, 6, 2, 5});
  for (const tg::bfloat16 v : result.span()) CHECK(float(v) == 0);
  for (const tg::bfloat16 v : slope.span()) CHECK(float(v) == 0);
}
