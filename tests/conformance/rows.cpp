// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;

const std::vector<shape> shapes = {{1},       {7},    {13},   {17},      {7, 13},  {13, 1},     {1, 17},
                                   {2, 3, 8}, {0, 7}, {7, 0}, {3, 1025}, {701, 9}, {2, 1, 3, 5}};

/// x - log(sum(exp(x))) of element `i` of row `r`, with the largest element of the row taken off first.
double log_share(const array& x, extent r, extent n, extent i) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (extent k = 0; k < n; ++k) top = std::fmax(top, x[r * n + k]);
  for (extent k = 0; k < n; ++k) sum += std::exp(x[r * n + k] - top);
  return x[r * n + i] - top - std::log(sum);
}
extent last_of(const shape& s) { return s[s.rank - 1]; }
extent rows_of(const shape& s) { return s.sub(0, s.rank - 1).elements(); }

std::vector<problem> logits(double size) {
  std::vector<problem> all;
  for (const shape& s : shapes) all.push_back({{{s, -size, size}}, {}, s.elements() <= 100});
  return all;
}

TEST_CASE("softmax") {
  const auto each = [](bool logarithm) {
    return [logarithm](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
      array y(out.dims);
      for (extent n = last_of(out.dims), r = 0; r < rows_of(out.dims); ++r)
        for (extent i = 0; i < n; ++i) {
          const double share = log_share(in[0], r, n, i);
          y[r * n + i] = logarithm ? share : std::exp(share);
        }
      return y;
    };
  };
  check<op::softmax>(logits(3), each(false), {.slack = 2});
  check<op::log_softmax>(logits(3), each(true), {.slack = 2});
  // What exp alone would make infinite.
  std::vector<problem> large{{{{{2, 3}, 0, 0, {1000, 999, -1000, 60000, 60000, 0}}}, {}, false}};
  check<op::softmax>(large, each(false), {.slack = 2});
  check<op::log_softmax>(large, each(true), {.slack = 2});
}

TEST_CASE("cross entropy of labels") {
  std::vector<problem> all, gradients;
  for (const shape& s : shapes) {
    if (last_of(s) == 0) continue;
    const shape labels = s.sub(0, s.rank - 1);
    const double classes = std::fmin(static_cast<double>(last_of(s)), 100);
    all.push_back({{{s, -3, 3}, {labels, 0, classes}}, {}, s.elements() <= 100});
    gradients.push_back({{{s, -3, 3}, {labels, 0, classes}, {labels, -1, 1}}, {}, s.elements() <= 100});
  }
  // Large logits, whose difference is small.
  all.push_back({{{{2, 3}, 0, 0, {10000, 9992, 9984, 60000, 60000, 0}}, {{2}, 0, 0, {0, 1}}}, {}, false});
  check<op::sparse_softmax_cross_entropy>(
      all,
      [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
        array y(out.dims);
        const extent n = last_of(in[0].dims);
        for (extent r = 0; r < out.dims.elements(); ++r) y[r] = -log_share(in[0], r, n, static_cast<extent>(in[1][r]));
        return y;
      },
      {.slack = 2});
  check<op::sparse_softmax_cross_entropy_gradient>(
      gradients,
      [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
        array dx(out.dims);
        for (extent n = last_of(out.dims), r = 0; r < rows_of(out.dims); ++r)
          for (extent i = 0; i < n; ++i) {
            const double p = std::exp(log_share(in[0], r, n, i));
            dx[r * n + i] = (p - (i == static_cast<extent>(in[1][r]) ? 1 : 0)) * in[2][r];
          }
        return dx;
      },
      {.slack = 2});
}

TEST_CASE("the largest of each row") {
  std::vector<problem> all;
  for (const shape& s : shapes)
    for (const extent k : {1, 2, 7, 13, 40})
      if (k <= last_of(s) && (s.elements() <= 1000 || k == 2 || k == 40)) {
        // In steps larger than those of the difference quotients, whatever is drawn.
        problem distinct{{{s}}, {k}, s.elements() <= 100};
        for (extent i = 0; i < s.elements(); ++i)
          distinct.in[0].values.push_back(static_cast<double>(i * 37 % 101) - 50);
        all.push_back(distinct);
        if (s.elements() > 1000) continue;
        problem ties{{{s}}, {k}, false};
        for (extent i = 0; i < s.elements(); ++i) ties.in[0].values.push_back(static_cast<double>(i * i % 5));
        all.push_back(ties);
      }
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto floats = [](const signature& s) { return tagma::is_floating(s.element); };
  all.push_back({{{{2, 6}, 0, 0, {1, -inf, nan, inf, nan, 2, -1, 3, 3, nan, 0, -inf}}}, {6}, false, -1, floats});
  all.push_back({{{{2, 6}, 0, 0, {1, -inf, nan, inf, nan, 2, -1, 3, 3, nan, 0, -inf}}}, {2}, false, -1, floats});
  check_several<op::top_k>(
      all, [](const std::vector<array>& in, const attribute_values& a, const std::vector<tensor_spec>& out) {
        std::vector<array> results{array(out[0].dims), array(out[1].dims)};
        const extent n = last_of(in[0].dims), k = a[0];
        for (extent r = 0; r < rows_of(in[0].dims); ++r) {
          std::vector<extent> order(static_cast<std::size_t>(n));
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](extent i, extent j) {
            const double x = in[0][r * n + i], y = in[0][r * n + j];
            return x != x ? y == y : x > y;
          });
          for (extent i = 0; i < k; ++i) {
            const extent at = order[static_cast<std::size_t>(i)];
            results[0][r * k + i] = in[0][r * n + at];
            results[1][r * k + i] = static_cast<double>(at);
          }
        }
        return results;
      });
}

TEST_CASE("elements at positions of each row") {
  std::vector<problem> reads, writes, crowded;
  for (const shape& s : shapes)
    for (const extent k : {0, 1, 3, 8, 40}) {
      const auto n = static_cast<double>(last_of(s));
      if (n == 0 && k > 0) continue;
      shape at = s;
      at[s.rank - 1] = k;
      reads.push_back({{{s, -9, 9}, {at, 0, n}}, {}, s.elements() <= 100});
      (k > 8 ? crowded : writes).push_back({{{at, -2, 2}, {at, 0, n}, {s}}, {}, s.elements() <= 100});
    }
  check<op::gather_last>(reads, [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array y(out.dims);
    const extent k = last_of(out.dims), n = last_of(in[0].dims);
    for (extent i = 0; i < out.dims.elements(); ++i) y[i] = in[0][i / k * n + static_cast<extent>(in[1][i])];
    return y;
  });
  const reference sums = [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array y(out.dims);
    const extent k = last_of(in[0].dims), n = last_of(out.dims);
    for (extent i = 0; i < in[0].dims.elements(); ++i) y[i / k * n + static_cast<extent>(in[1][i])] += in[0][i];
    return y;
  };
  // Each addition to an element of 16 bits may round, of which there are up to 8, and then up to 40.
  check<op::scatter_last>(writes, sums, {.slack = 8});
  check<op::scatter_last>(crowded, sums, {.slack = 16});
}

}  // namespace
