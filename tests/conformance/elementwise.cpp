// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A function of one element of each operand, which broadcast.
template <class F>
reference each(const F& f) {
  return [f](const std::vector<array>& in, const std::vector<ir::attribute>&, const tensor_spec& out) {
    array result(out.dims);
    tagma::extent n = 0;
    for_each_position(out.dims, [&](const position& p) {
      double x[3]{};
      for (std::size_t i = 0; i < in.size() && i < 3; ++i) x[i] = in[i][place(in[i].dims, p)];
      if constexpr (std::is_invocable_v<F, double>)
        result[n++] = f(x[0]);
      else if constexpr (std::is_invocable_v<F, double, double>)
        result[n++] = f(x[0], x[1]);
      else
        result[n++] = f(x[0], x[1], x[2]);
    });
    return result;
  };
}

/// Shapes of operands that broadcast: rows of every kind of length, axes of 1 and 0, ranks from 0 to 6.
const std::vector<std::vector<shape>> pairs = {{{13}, {13}},
                                               {{7, 17}, {7, 17}},
                                               {{7, 17}, {17}},
                                               {{7, 17}, {7, 1}},
                                               {{7, 1}, {1, 13}},
                                               {{1}, {17}},
                                               {{13}, {}},
                                               {{}, {}},
                                               {{1, 1}, {1, 1}},
                                               {{0}, {0}},
                                               {{7, 0}, {1, 0}},
                                               {{7, 0}, {7, 1}},
                                               {{0, 13}, {13}},
                                               {{3, 1, 7, 1}, {5, 1, 13}},
                                               {{1, 13, 1}, {7, 1, 1}},
                                               {{2, 1, 3, 1, 2, 9}, {1, 5, 1, 1, 2, 9}}};

/// Problems of two operands between bounds, and a long one whose tasks are several.
std::vector<problem> both(double low, double high, double low2, double high2) {
  std::vector<problem> all;
  for (const auto& p : pairs) {
    all.push_back({{{p[0], low, high}, {p[1], low2, high2}}});
    all.push_back({{{p[1], low, high}, {p[0], low2, high2}}});
  }
  all.push_back({{{{3, 30011}, low, high}, {{3, 30011}, low2, high2}}, {}, false});
  all.push_back({{{{30011, 5}, low, high}, {{30011, 1}, low2, high2}}, {}, false});
  all.push_back({{{{100003}, low, high}, {{}, low2, high2}}, {}, false});
  return all;
}
std::vector<problem> one(double low, double high) {
  std::vector<problem> all;
  for (const shape& s : {shape{1}, shape{7}, shape{8}, shape{13}, shape{17}, shape{}, shape{7, 13}, shape{1, 17, 1},
                         shape{0}, shape{7, 0, 3}, shape{2, 1, 3, 1, 2, 5}})
    all.push_back({{{s, low, high}}});
  all.push_back({{{{3, 33331}, low, high}}, {}, false});
  return all;
}
/// The same with given elements, for which there is no gradient to check.
std::vector<problem> given(std::vector<problem> all, const std::vector<double>& a, const std::vector<double>& b = {}) {
  const shape dims{static_cast<tagma::extent>(a.size())};
  problem p{{{dims, 0, 0, a}}, {}, false};
  if (!b.empty()) p.in.push_back({dims, 0, 0, b});
  all.push_back(p);
  return all;
}

bool floats(const signature& s) { return tagma::is_floating(s.element); }
bool integers(const signature& s) { return tagma::is_integer(s.element); }

/// Adds problems for some element types alone.
std::vector<problem> plus(std::vector<problem> all, std::vector<problem> more, bool (*applies)(const signature&)) {
  for (problem& p : more) {
    p.applies = applies;
    all.push_back(p);
  }
  return all;
}

TEST_CASE("arithmetic of two operands") {
  const std::vector<double> low{-128, -128, 127, 5, 0, -1, 127}, high{-1, 1, 127, 0, 0, -1, -128};
  const auto numbers = given(both(-9, 9, -9, 9), low, high);
  check<op::add>(numbers, each([](double a, double b) { return a + b; }));
  check<op::subtract>(numbers, each([](double a, double b) { return a - b; }));
  check<op::multiply>(numbers, each([](double a, double b) { return a * b; }));
  check<op::maximum>(numbers, each([](double a, double b) { return a >= b ? a : b; }));
  check<op::minimum>(numbers, each([](double a, double b) { return a <= b ? a : b; }));
}

TEST_CASE("quotients") {
  check<op::divide>(plus({}, given(both(-2, 2, 0.5, 3), {1, -1, 0}, {0, 0, 0}), floats),
                    each([](double a, double b) { return a / b; }));
  const std::vector<double> a{-128, -7, 7, -7, 7, 0, 1}, b{-1, 2, 2, -2, -2, 5, 0};
  check<op::divide>(plus({}, given(both(-100, 100, -7, 7), a, b), integers),
                    each([](double x, double y) { return y == 0 ? 0 : std::trunc(x / y); }));
}

TEST_CASE("arithmetic of one operand") {
  const auto numbers = given(one(-9, 9), {-128, 127, -1, 0, 5});
  check<op::negate>(numbers, each([](double a) { return -a; }));
  check<op::abs>(numbers, each([](double a) { return std::fabs(a); }));
  check<op::sign>(numbers, each([](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; }));
  check<op::square>(numbers, each([](double a) { return a * a; }));
  const auto halves = given(one(-9, 9), {-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 1000.5, infinity, -infinity, nan});
  check<op::floor>(halves, each([](double a) { return std::floor(a); }));
  check<op::ceil>(halves, each([](double a) { return std::ceil(a); }));
  check<op::round>(halves, each([](double a) { return std::nearbyint(a); }));
}

TEST_CASE("stretching") {
  std::vector<problem> all;
  for (const auto& p : pairs)
    for (const auto& [from, to] : {std::pair(p[0], p[1]), std::pair(p[1], p[0])})
      if (broadcast(from, to) == to) all.push_back({{{from, -2, 2}, {to, -2, 2}}});
  check<op::broadcast_like>(all, each([](double a, double) { return a; }));
}

TEST_CASE("comparisons") {
  std::vector<problem> all = both(-3, 3, -3, 3);
  for (problem& p : all) p.has_gradient = false;
  all = given(all, {-3, -2, -1, 0, 1, 2, 3, 0, 5, 5, 100}, {-3, -1, -2, 0, 1, 3, 2, -0.0, 5, 4, 100});
  all =
      plus(all, given({}, {nan, nan, 1, infinity, -infinity, infinity}, {nan, 1, nan, infinity, infinity, 3}), floats);
  check<op::equal>(all, each([](double a, double b) { return a == b; }));
  check<op::not_equal>(all, each([](double a, double b) { return a != b; }));
  check<op::less>(all, each([](double a, double b) { return a < b; }));
  check<op::less_equal>(all, each([](double a, double b) { return a <= b; }));
  check<op::greater>(all, each([](double a, double b) { return a > b; }));
  check<op::greater_equal>(all, each([](double a, double b) { return a >= b; }));
}

TEST_CASE("logic") {
  check<op::logical_and>(both(0, 2, 0, 2), each([](double a, double b) { return a != 0 && b != 0; }));
  check<op::logical_or>(both(0, 2, 0, 2), each([](double a, double b) { return a != 0 || b != 0; }));
  check<op::logical_not>(one(0, 2), each([](double a) { return a == 0; }));
}

TEST_CASE("selection") {
  const std::vector<std::vector<shape>> shapes = {{{13}, {13}, {13}},
                                                  {{7, 17}, {17}, {7, 1}},
                                                  {{7, 1}, {7, 17}, {}},
                                                  {{}, {7, 17}, {7, 17}},
                                                  {{17}, {}, {}},
                                                  {{}, {}, {}},
                                                  {{7, 1, 1}, {1, 5, 1}, {13}},
                                                  {{0}, {0}, {}},
                                                  {{7, 1}, {7, 0}, {}},
                                                  {{1}, {1}, {1}},
                                                  {{3, 30011}, {3, 1}, {30011}}};
  std::vector<problem> all;
  for (const auto& s : shapes) all.push_back({{{s[0]}, {s[1], -2, 2}, {s[2], -2, 2}}, {}, s[2] != shape{30011}});
  check<op::select>(all, each([](double c, double a, double b) { return c != 0 ? a : b; }));
}

TEST_CASE("conversions") {
  const auto truncated = [](const std::vector<array>& in, const std::vector<ir::attribute>&, const tensor_spec& out) {
    array result = in[0];
    for (double& v : result.at)
      v = tagma::is_integer(out.type) ? std::trunc(v) : out.type == dtype::boolean ? v != 0 : v;
    return result;
  };
  // A fraction beyond the range of an integer has no defined result; an integer wraps.
  const auto fits = [](const signature& s) { return !tagma::is_floating(s.element) || s.out != dtype::uint8; };
  std::vector<problem> all = plus(one(0, 120), given(one(-120, 120), {-1.5, -0.5, 0.5, 1.5, -0.0, 0.25}), fits);
  all = plus(all, given({}, {-1000, 1000, 65537, -40000}), integers);
  for (problem& p : all) p.attributes = {0}, p.type_attribute = 0;
  check<op::cast>(all, truncated);
}

TEST_CASE("elementary functions") {
  const std::vector<double> ends{0, -0.0, 1, -1, infinity, -infinity, nan, 60000, -60000};
  const auto all = given(one(-3, 3), ends), positive = given(one(0.05, 4), ends);
  const check_options close{.slack = 2};
  check<op::exp>(all, each([](double a) { return std::exp(a); }), close);
  check<op::expm1>(all, each([](double a) { return std::expm1(a); }), close);
  check<op::log>(positive, each([](double a) { return std::log(a); }), close);
  check<op::log1p>(positive, each([](double a) { return std::log1p(a); }), close);
  check<op::sqrt>(positive, each([](double a) { return std::sqrt(a); }), close);
  check<op::rsqrt>(positive, each([](double a) { return 1 / std::sqrt(a); }), close);
  check<op::tanh>(all, each([](double a) { return std::tanh(a); }), close);
  check<op::sigmoid>(all, each([](double a) { return 1 / (1 + std::exp(-a)); }), close);
  check<op::softplus>(all, each([](double a) { return a > 30 ? a : std::log1p(std::exp(a)); }), close);
  check<op::erf>(all, each([](double a) { return std::erf(a); }), close);
  check<op::sin>(all, each([](double a) { return std::sin(a); }), close);
  check<op::cos>(all, each([](double a) { return std::cos(a); }), close);
}

TEST_CASE("powers") {
  const std::vector<double> x{2, -2, -2, 0, 0, 0, 4, -8, 1, 9, infinity, 2},
      y{10, 3, 2, 0, 2, -1, 0.5, 0.5, 100, -0.5, 2, -infinity};
  check<op::power>(given(both(0.1, 3, -2, 2), x, y), each([](double a, double b) { return std::pow(a, b); }),
                   {.slack = 4});
}

TEST_CASE("what is positive") {
  check<op::relu>(given(one(-3, 3), {0, -0.0, infinity, -infinity, nan}),
                  each([](double a) { return a > 0 || std::isnan(a) ? a : 0; }));
  check<op::relu_gradient>(given(both(-3, 3, -3, 3), {2, 2, 2, infinity, nan}, {0, 1, -1, infinity, -1}),
                           each([](double u, double y) { return y > 0 ? u : 0; }));
}

}  // namespace
