// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/activations.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn>();

/// The value and the slope of an activation at `v`, as mathematics has them.
struct expected {
  const char* name;
  double (*value)(double);
  double (*slope)(double);
};

double normal(double v) { return 0.5 * (1 + std::erf(v / std::sqrt(2.0))); }
double density(double v) { return std::exp(-v * v / 2) / std::sqrt(2 * 3.14159265358979323846); }
double logistic(double v) { return 1 / (1 + std::exp(-v)); }
constexpr double scale = 1.0507009873554805, alpha = 1.6732632423543772;

const expected table[] = {
    {"elu", [](double v) { return v > 0 ? v : std::expm1(v); }, [](double v) { return v > 0 ? 1 : std::exp(v); }},
    {"selu", [](double v) { return scale * (v > 0 ? v : alpha * std::expm1(v)); },
     [](double v) { return scale * (v > 0 ? 1 : alpha * std::exp(v)); }},
    {"gelu", [](double v) { return v * normal(v); }, [](double v) { return normal(v) + v * density(v); }},
    {"silu", [](double v) { return v * logistic(v); },
     [](double v) { return logistic(v) + v * logistic(v) * (1 - logistic(v)); }},
    {"relu6", [](double v) { return std::fmin(std::fmax(v, 0), 6); }, [](double v) { return v > 0 && v < 6 ? 1.0 : 0.0; }},
    {"hard_sigmoid", [](double v) { return std::fmin(std::fmax(0.2 * v + 0.5, 0), 1); },
     [](double v) { return v > -2.5 && v < 2.5 ? 0.2 : 0.0; }},
    {"softsign", [](double v) { return v / (1 + std::fabs(v)); },
     [](double v) { return 1 / ((1 + std::fabs(v)) * (1 + std::fabs(v))); }},
    {"leaky_relu", [](double v) { return v > 0 ? v : 0.2 * v; }, [](double v) { return v > 0 ? 1 : 0.2; }},
    {"leaky_relu 0.01", [](double v) { return v > 0 ? v : 0.01 * v; }, [](double v) { return v > 0 ? 1 : 0.01; }},
};

constexpr auto all = [](const auto& e) {
  return std::make_tuple(tg::elu(e), tg::selu(e), tg::gelu(e), tg::silu(e), tg::relu6(e), tg::hard_sigmoid(e),
                         tg::softsign(e), tg::leaky_relu(e), tg::leaky_relu(e, 0.01));
};

}  // namespace

TEST_CASE("activations and their slopes are those of the formulas, far out as well") {
  const auto values = all(x);
  const auto slopes = std::apply([](const auto&... e) { return std::make_tuple(tg::gradient(e, x)...); }, values);
  const auto every = std::tuple_cat(values, slopes);
  const auto program = tg::compile([&] { return std::apply([](const auto&... e) { return tg::outputs(e...); }, every); });
  tg::session session(program);
  const tg::tensor<double> at(tg::shape{11}, {-800, -40, -3, -2, -0.5, -1e-3, 1e-3, 0.7, 2.2, 5.5, 800});
  const auto found =
      session.run(std::apply([](const auto&... e) { return tg::fetch(e...); }, every), x = at);
  const auto check = [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&](const expected& e, const tg::tensor<double>& value, const tg::tensor<double>& slope) {
      for (tg::extent i = 0; i < at.dims()[0]; ++i) {
        INFO(e.name << " at " << at[i]);
        CHECK(value[i] == Approx(e.value(at[i])).epsilon(1e-12).margin(1e-14));
        CHECK(slope[i] == Approx(e.slope(at[i])).epsilon(1e-12).margin(1e-14));
      }
    };
    (one(table[I], std::get<I>(found), std::get<I + sizeof...(I)>(found)), ...);
  };
  check(std::make_index_sequence<std::size(table)>{});
}

TEST_CASE("an activation is known by its structure, so that equal uses are one node") {
  static_assert(std::is_same_v<decltype(tg::gelu(x)), decltype(tg::gelu(x))>);
  static_assert(std::is_same_v<decltype(tg::selu(x)), decltype(tg::selu(x))>);
  const auto once = tg::compile([] { return tg::outputs(tg::gelu(x)); });
  const auto twice = tg::compile([] { return tg::outputs(tg::gelu(x) + tg::gelu(x)); });
  CHECK(twice.node_count() == once.node_count() + 1);
  CHECK(decltype(once)::full_plan::steps.size() == 1);
}
