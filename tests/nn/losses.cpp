// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/losses.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto p = tg::placeholder<"p", double, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", double, tg::dyn, 3>();

/// One number each.
constexpr auto all_losses = [](const auto& a, const auto& b) {
  return std::make_tuple(tg::mean_squared_error(a, b), tg::mean_absolute_error(a, b), tg::huber_loss(a, b),
                         tg::huber_loss(a, b, 0.3), tg::hinge_loss(a, b), tg::log_loss(a, b), tg::cosine_distance(a, b),
                         tg::mean(tg::sigmoid_cross_entropy(a, b)), tg::mean(tg::kl_divergence(a, b)), tg::l2_loss(a));
};

double mean_of(const tg::tensor<double>& a, const tg::tensor<double>& b, double (*f)(double, double), double per) {
  double total = 0;
  for (tg::extent i = 0; i < a.dims().elements(); ++i) total += f(a[i], b[i]);
  return total / per;
}

double huber(double a, double b, double delta) {
  const double d = std::fabs(a - b);
  return d <= delta ? d * d / 2 : delta * (d - delta / 2);
}

}  // namespace

TEST_CASE("losses are those of the formulas, and so are their gradients") {
  const auto losses = all_losses(p, y);
  constexpr std::size_t count = std::tuple_size_v<decltype(losses)>;
  const auto slopes = std::apply([](const auto&... e) { return std::make_tuple(tg::gradient(e, p)...); }, losses);
  const auto every = std::tuple_cat(losses, slopes);
  const auto program =
      tg::compile([&] { return std::apply([](const auto&... e) { return tg::outputs(e...); }, every); });
  tg::session session(program);
  const tg::tensor<double> labels(tg::shape{2, 3}, {1, 0, 0, 0.25, 0.5, 0.25});
  const tg::tensor<double> at(tg::shape{2, 3}, {0.9, 0.06, 0.04, 0.1, 0.62, 0.28});
  const auto run = [&](const tg::tensor<double>& v) {
    return session.run(std::apply([](const auto&... e) { return tg::fetch(e...); }, every), p = v, y = labels);
  };
  const auto found = run(at);
  const double n = 6, rows = 2;
  CHECK(std::get<0>(found) == Approx(mean_of(
                                  at, labels, [](double a, double b) { return (a - b) * (a - b); }, n)));
  CHECK(std::get<1>(found) == Approx(mean_of(
                                  at, labels, [](double a, double b) { return std::fabs(a - b); }, n)));
  CHECK(std::get<2>(found) == Approx(mean_of(
                                  at, labels, [](double a, double b) { return huber(a, b, 1); }, n)));
  CHECK(std::get<3>(found) == Approx(mean_of(
                                  at, labels, [](double a, double b) { return huber(a, b, 0.3); }, n)));
  CHECK(std::get<4>(found) ==
        Approx(mean_of(
            at, labels, [](double a, double b) { return std::fmax(0, 1 - (2 * b - 1) * a); }, n)));
  CHECK(std::get<5>(found) ==
        Approx(mean_of(
            at, labels, [](double a, double b) { return -b * std::log(a + 1e-7) - (1 - b) * std::log(1 - a + 1e-7); },
            n)));
  CHECK(std::get<6>(found) == Approx(1 - mean_of(
                                             at, labels, [](double a, double b) { return a * b; }, rows)));
  CHECK(std::get<7>(found) == Approx(mean_of(
                                  at, labels, [](double a, double b) { return std::log1p(std::exp(a)) - a * b; }, n)));
  CHECK(std::get<8>(found) == Approx(mean_of(
                                  at, labels,
                                  [](double a, double b) {
                                    b = std::fmax(b, 1e-7);
                                    return b * std::log(b / a);
                                  },
                                  rows)));
  CHECK(std::get<9>(found) == Approx(mean_of(
                                  at, labels, [](double a, double) { return a * a; }, 2)));

  const auto check = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (tg::test::check_gradient(
         [&](const tg::tensor<double>& v) {
           const auto all = run(v);
           return std::make_tuple(std::get<I>(all), std::get<I + count>(all));
         },
         at),
     ...);
  };
  check(std::make_index_sequence<count>{});
}

TEST_CASE("sigmoid cross entropy neither overflows nor cancels, and has the right slope at 0") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  constexpr auto z = tg::placeholder<"z", float, tg::dyn>();
  const auto loss = tg::sigmoid_cross_entropy(x, z);
  const auto slope = tg::gradient(loss, x);
  const auto program = tg::compile([=] { return tg::outputs(loss, slope); });
  tg::session session(program);
  const tg::tensor<float> logits(tg::shape{6}, {0, -0.0f, 30, -30, 1000, -1000}),
      labels(tg::shape{6}, {1, 0, 1, 0, 0, 1});
  const auto [value, gradient] = session.run(tg::fetch(loss, slope), x = logits, z = labels);
  CHECK(value[0] == Approx(std::log(2.0)));
  CHECK(value[1] == Approx(std::log(2.0)));
  CHECK(value[2] == Approx(std::exp(-30.0)));
  CHECK(value[3] == Approx(std::exp(-30.0)));
  CHECK(value[4] == 1000.0f);
  CHECK(value[5] == 1000.0f);
  CHECK(gradient[0] == -0.5f);
  CHECK(gradient[1] == 0.5f);
  CHECK(gradient[4] == 1.0f);
  CHECK(gradient[5] == -1.0f);
}

TEST_CASE("a share of smoothed labels that is none is refused") {
  constexpr auto classes = tg::placeholder<"classes", std::int32_t, tg::dyn>();
  for (const double wrong : {-0.01, 1.01, std::nan("")}) {
    const auto refuses = [](const auto& make) {
      CHECK_THROWS_WITH(make(), Catch::Contains("label_smoothing is from 0 to 1, not"));
    };
    refuses([&] { return tg::sparse_softmax_cross_entropy(p, classes, wrong); });
    refuses([&] { return tg::softmax_cross_entropy(p, y, wrong); });
    refuses([&] { return tg::sigmoid_cross_entropy(p, y, wrong); });
  }
  CHECK_NOTHROW(tg::sigmoid_cross_entropy(p, y, 1));
  CHECK_NOTHROW(tg::sparse_softmax_cross_entropy(p, classes, 0));
}

TEST_CASE("examples count by their weights, and labels are smoothed") {
  constexpr auto classes = tg::placeholder<"classes", std::int32_t, tg::dyn>();
  constexpr auto w = tg::placeholder<"w", double, tg::dyn>();
  constexpr auto each = tg::placeholder<"each", double, tg::dyn, 3>();
  const auto entropy = tg::sparse_softmax_cross_entropy(p, classes, 0.2);
  const auto losses = std::make_tuple(tg::weighted_mean(entropy, w), tg::mean(tg::softmax_cross_entropy(p, y, 0.2)),
                                      tg::mean(tg::sigmoid_cross_entropy(p, y, 0.2)), tg::mean_squared_error(p, y, w),
                                      tg::mean_absolute_error(p, y, each), tg::weighted_mean(tg::square(p), each));
  constexpr std::size_t count = std::tuple_size_v<decltype(losses)>;
  const auto slopes = std::apply([](const auto&... e) { return std::make_tuple(tg::gradient(e, p)...); }, losses);
  const auto every = std::tuple_cat(losses, slopes);
  tg::session session(
      tg::compile([&] { return std::apply([](const auto&... e) { return tg::outputs(e...); }, every); }));
  const tg::tensor<double> at(tg::shape{2, 3}, {0.9, -0.6, 0.4, 0.1, 1.2, -0.8});
  const tg::tensor<double> labels(tg::shape{2, 3}, {1, 0, 0, 0.25, 0.5, 0.25});
  const tg::tensor<double> by_row(tg::shape{2}, {0.5, 2}), by_element(tg::shape{2, 3}, {1, 0, 1, 2, 0, 0});
  const tg::tensor<std::int32_t> named(tg::shape{2}, {2, 1});
  const auto run = [&](const tg::tensor<double>& v, const tg::tensor<double>& rows,
                       const tg::tensor<double>& elements) {
    return session.run(std::apply([](const auto&... e) { return tg::fetch(e...); }, every), p = v, y = labels,
                       classes = named, w = rows, each = elements);
  };
  const auto found = run(at, by_row, by_element);
  // -sum((0.8 * q + 0.2 / 3) * log(softmax)) of each row, for probabilities q.
  const auto smoothed = [&](tg::extent row, auto probability) {
    double total = 0, result = 0;
    for (tg::extent c = 0; c < 3; ++c) total += std::exp(at[row * 3 + c]);
    for (tg::extent c = 0; c < 3; ++c) result -= (0.8 * probability(c) + 0.2 / 3) * (at[row * 3 + c] - std::log(total));
    return result;
  };
  const double first = smoothed(0, [](tg::extent c) { return c == 2 ? 1.0 : 0.0; });
  const double second = smoothed(1, [](tg::extent c) { return c == 1 ? 1.0 : 0.0; });
  CHECK(std::get<0>(found) == Approx((0.5 * first + 2 * second) / 2.5));
  const double of_rows =
      smoothed(0, [&](tg::extent c) { return labels[c]; }) + smoothed(1, [&](tg::extent c) { return labels[3 + c]; });
  CHECK(std::get<1>(found) == Approx(of_rows / 2));
  double sigmoid = 0, squared = 0, absolute = 0, squares = 0;
  for (tg::extent i = 0; i < 6; ++i) {
    sigmoid += std::log1p(std::exp(at[i])) - at[i] * (0.8 * labels[i] + 0.1);
    squared += by_row[i / 3] * (at[i] - labels[i]) * (at[i] - labels[i]);
    absolute += by_element[i] * std::fabs(at[i] - labels[i]);
    squares += by_element[i] * at[i] * at[i];
  }
  CHECK(std::get<2>(found) == Approx(sigmoid / 6));
  CHECK(std::get<3>(found) == Approx(squared / (2.5 * 3)));
  CHECK(std::get<4>(found) == Approx(absolute / 4));
  CHECK(std::get<5>(found) == Approx(squares / 4));
  const auto check = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (tg::test::check_gradient(
         [&](const tg::tensor<double>& v) {
           const auto all = run(v, by_row, by_element);
           return std::make_tuple(std::get<I>(all), std::get<I + count>(all));
         },
         at),
     ...);
  };
  check(std::make_index_sequence<count>{});
  // Nothing counts: 0, and no slope.
  const auto none = run(at, tg::tensor<double>(tg::shape{2}, {0, 0}), tg::tensor<double>(tg::shape{2, 3}));
  CHECK(std::get<0>(none) == 0);
  CHECK(std::get<4>(none) == 0);
  CHECK(std::get<count>(none)[0] == 0);
}
