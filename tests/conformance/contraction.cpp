// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec, tagma::window, tagma::window_padding;
namespace op = tagma::op;
namespace ir = tagma::ir;

/// Sums of many products have small errors beside large terms.
constexpr check_options sums{.slack = 16, .gradient_slack = 48};

array product(const std::vector<array>& in, const std::vector<ir::attribute>& transposed, const tensor_spec& out) {
  const array &a = in[0], &b = in[1];
  array result(out.dims);
  const extent k_count = a.dims[a.dims.rank - (transposed[0] != 0 ? 2 : 1)];
  extent n = 0;
  for_each_position(out.dims, [&](const position& p) {
    position left = p, right = p;
    const std::size_t row = p.size() - 2, column = p.size() - 1;
    double sum = 0;
    for (extent k = 0; k < k_count; ++k) {
      left[transposed[0] != 0 ? column : row] = p[row];
      left[transposed[0] != 0 ? row : column] = k;
      right[transposed[1] != 0 ? row : column] = p[column];
      right[transposed[1] != 0 ? column : row] = k;
      sum += a[place(a.dims, left)] * b[place(b.dims, right)];
    }
    result[n++] = sum;
  });
  return result;
}

struct product_sizes {
  shape a_batch, b_batch;
  extent m, k, n;
};

/// Products under all transpositions, of numbers between bounds.
std::vector<problem> products(const std::vector<product_sizes>& all, double low_a, double high_a, double low_b,
                              double high_b) {
  std::vector<problem> problems;
  for (const product_sizes& s : all)
    for (const int transposed : {0, 1, 2, 3}) {
      const bool ta = (transposed & 1) != 0, tb = (transposed & 2) != 0;
      shape a = s.a_batch, b = s.b_batch;
      a.push_back(ta ? s.k : s.m), a.push_back(ta ? s.m : s.k);
      b.push_back(tb ? s.n : s.k), b.push_back(tb ? s.k : s.n);
      problems.push_back(
          {{{a, low_a, high_a}, {b, low_b, high_b}}, {ta, tb}, a.elements() * b.elements() <= 200 * 300});
    }
  return problems;
}

TEST_CASE("matrix products") {
  const std::vector<product_sizes> all = {
      {{}, {}, 7, 13, 17},   {{}, {}, 1, 1, 1},      {{}, {}, 1, 17, 1},        {{}, {}, 13, 1, 7},
      {{}, {}, 3, 0, 5},     {{}, {}, 0, 5, 3},      {{}, {}, 3, 5, 0},         {{3}, {3}, 7, 5, 4},
      {{3}, {}, 7, 5, 4},    {{}, {3}, 7, 5, 4},     {{2, 1}, {1, 3}, 4, 3, 5}, {{0}, {0}, 3, 4, 5},
      {{0}, {}, 3, 4, 5},    {{2}, {2}, 3, 0, 4},    {{1}, {4}, 1, 3, 2},       {{2, 1, 2}, {3, 1}, 1, 2, 3},
      {{}, {}, 67, 129, 65}, {{5}, {5}, 33, 17, 31}, {{}, {}, 300, 70, 257}};
  check<op::matmul>(products(all, -1, 1, -1, 1), product, sums);
}

TEST_CASE("products of 8-bit integers") {
  const std::vector<product_sizes> all = {{{}, {}, 7, 13, 17}, {{}, {}, 1, 17, 1},    {{}, {}, 3, 0, 5},
                                          {{}, {}, 0, 5, 3},   {{3}, {3}, 7, 5, 4},   {{2, 1}, {1, 3}, 4, 3, 5},
                                          {{0}, {}, 3, 4, 5},  {{}, {}, 67, 129, 65}, {{2}, {2}, 33, 70, 31}};
  // Numbers of uint8, and of int8, for those signatures that have room for them.
  std::vector<problem> problems;
  const auto add = [&](std::vector<problem> some, bool (*applies)(const signature&)) {
    for (problem& p : some) {
      p.applies = applies;
      problems.push_back(std::move(p));
    }
  };
  add(products(all, 0, 256, -128, 128),
      [](const signature& s) { return s.in[0] == dtype::uint8 && s.in[1] == dtype::int8; });
  add(products(all, 0, 256, 0, 256),
      [](const signature& s) { return s.in[0] == dtype::uint8 && s.in[1] == dtype::uint8; });
  add(products(all, -128, 128, 0, 256),
      [](const signature& s) { return s.in[0] == dtype::int8 && s.in[1] == dtype::uint8; });
  add(products(all, -128, 128, -128, 128),
      [](const signature& s) { return s.in[0] == dtype::int8 && s.in[1] == dtype::int8; });
  check<op::matmul_integer>(problems, product);
}

/// The options of a convolution, taken apart as docs of the operation say.
struct steps {
  extent stride_down, stride_across, dilation_down, dilation_across, top = 0, left = 0, groups;

  steps(const std::vector<ir::attribute>& a, const shape& x, const shape& filter, const shape& y)
      : stride_down(a[0] & 0xffff),
        stride_across((a[0] >> 16) & 0xffff),
        dilation_down((a[0] >> 32) & 0xffff),
        dilation_across((a[0] >> 48) & 0x7fff),
        groups(a[2]) {
    const auto lead = [](extent in, extent out, extent size, extent stride, extent dilation) {
      const extent missing = (out - 1) * stride + (size - 1) * dilation + 1 - in;
      return missing > 0 ? missing / 2 : 0;
    };
    if (a[1] >= 0) {
      top = a[1] & 0x7fff;
      left = (a[1] >> 30) & 0x7fff;
    } else {
      top = lead(x[1], y[1], filter[0], stride_down, dilation_down);
      left = lead(x[2], y[2], filter[1], stride_across, dilation_across);
    }
  }
};

/// Calls visit(place in x, place in the filter, place in y) for every product of a convolution.
template <class Visit>
void for_each_product(const std::vector<ir::attribute>& attributes, const shape& x, const shape& w, const shape& y,
                      const Visit& visit) {
  if (x.elements() == 0 || w.elements() == 0 || y.elements() == 0) return;
  const steps s(attributes, x, w, y);
  const extent own = w[3] / s.groups;
  for_each_position(y, [&](const position& p) {
    const extent group = p[3] / own, to = place(y, p);
    for (extent a = 0; a < w[0]; ++a)
      for (extent b = 0; b < w[1]; ++b)
        for (extent c = 0; c < w[2]; ++c) {
          const extent row = p[1] * s.stride_down + a * s.dilation_down - s.top;
          const extent column = p[2] * s.stride_across + b * s.dilation_across - s.left;
          if (row < 0 || row >= x[1] || column < 0 || column >= x[2]) continue;
          visit(((p[0] * x[1] + row) * x[2] + column) * x[3] + group * w[2] + c,
                ((a * w[1] + b) * w[2] + c) * w[3] + p[3], to);
        }
  });
}

array convolved(const std::vector<array>& in, const std::vector<ir::attribute>& attributes, const tensor_spec& out) {
  array y(out.dims);
  for_each_product(attributes, in[0].dims, in[1].dims, out.dims,
                   [&](extent x, extent w, extent to) { y[to] += in[0][x] * in[1][w]; });
  return y;
}
array convolved_with_bias(const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                          const tensor_spec& out) {
  array y = convolved(in, attributes, out);
  for (extent i = 0; i < out.dims.elements(); ++i) {
    y[i] += in[2][i % out.dims[3]];
    if (attributes[3] != 0 && y[i] < 0) y[i] = 0;
    if (attributes[3] == 2 && y[i] > 6) y[i] = 6;
  }
  return y;
}
array input_gradient(const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                     const tensor_spec& out) {
  array dx(out.dims);
  for_each_product(attributes, out.dims, in[1].dims, in[0].dims,
                   [&](extent x, extent w, extent y) { dx[x] += in[0][y] * in[1][w]; });
  return dx;
}
array filter_gradient(const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                      const tensor_spec& out) {
  array dw(out.dims);
  for_each_product(attributes, in[0].dims, out.dims, in[1].dims,
                   [&](extent x, extent w, extent y) { dw[w] += in[0][x] * in[1][y]; });
  return dw;
}

struct geometry {
  shape x, filter;
  window stride = 1;
  window_padding padding = tagma::valid_padding;
  window dilation = 1;
  int groups = 1;
  bool has_gradient = true;
};
const std::vector<geometry> geometries = {{{1, 7, 7, 1}, {3, 3, 1, 1}},
                                          {{2, 5, 7, 3}, {3, 2, 3, 5}, 1, tagma::same_padding},
                                          {{2, 7, 5, 3}, {3, 3, 3, 4}, window(2, 1), tagma::same_padding},
                                          {{1, 7, 8, 2}, {2, 3, 2, 3}, window(2, 3), window_padding(1, 0, 2, 1)},
                                          {{1, 9, 7, 2}, {3, 2, 2, 3}, 1, tagma::valid_padding, window(2, 3)},
                                          {{1, 9, 9, 2}, {3, 3, 2, 2}, 2, tagma::same_padding, window(2)},
                                          {{2, 5, 5, 4}, {3, 3, 2, 6}, 1, tagma::same_padding, 1, 2},
                                          {{1, 5, 4, 3}, {2, 2, 1, 3}, 1, tagma::valid_padding, 1, 3},
                                          {{3, 1, 1, 7}, {1, 1, 7, 13}},
                                          {{1, 1, 17, 1}, {1, 5, 1, 2}},
                                          {{1, 6, 6, 1}, {2, 2, 1, 1}, 3},
                                          {{0, 5, 5, 3}, {3, 3, 3, 2}},
                                          {{2, 5, 5, 3}, {3, 3, 3, 0}},
                                          {{2, 5, 5, 0}, {3, 3, 0, 2}},
                                          {{4, 19, 17, 13}, {3, 3, 13, 17}, 1, tagma::same_padding, 1, 1, false},
                                          {{9, 12, 12, 16}, {5, 5, 16, 24}, 1, tagma::valid_padding, 1, 1, false}};

std::vector<ir::attribute> attributes_of(const geometry& g) {
  return {op::window_plane::pack_steps(g.stride, g.dilation), op::window_plane::pack_padding(g.padding), g.groups};
}
shape output_of(const geometry& g) {
  const tensor_spec in[] = {{tagma::dtype::float32, g.x}, {tagma::dtype::float32, g.filter}};
  const auto attributes = attributes_of(g);
  ir::infer_args args{in, attributes, {}};
  REQUIRE(op::conv2d::infer(args) == nullptr);
  return args.out.dims;
}

TEST_CASE("convolutions") {
  std::vector<problem> all, biased;
  for (const geometry& g : geometries) {
    all.push_back({{{g.x, -1, 1}, {g.filter, -1, 1}}, attributes_of(g), g.has_gradient});
    for (const int activation : {0, 1, 2}) {
      problem p{{{g.x, -1, 1}, {g.filter, -1, 1}, {{g.filter[3]}, -1, 1}}, attributes_of(g), g.has_gradient};
      p.attributes.push_back(activation);
      biased.push_back(p);
    }
  }
  check<op::conv2d>(all, convolved, sums);
  check<op::conv2d_bias>(biased, convolved_with_bias, sums);
}

TEST_CASE("gradients of convolutions, and transposed ones") {
  std::vector<problem> by_input, by_filter;
  for (const geometry& g : geometries) {
    const shape y = output_of(g);
    by_input.push_back({{{y, -1, 1}, {g.filter, -1, 1}, {g.x}}, attributes_of(g), g.has_gradient});
    by_filter.push_back({{{g.x, -1, 1}, {y, -1, 1}, {g.filter}}, attributes_of(g), g.has_gradient});
    if (g.x.elements() == 0) continue;
    problem transposed{{{y, -1, 1}, {g.filter, -1, 1}}, attributes_of(g), g.has_gradient};
    transposed.attributes.push_back(g.x[1]);
    transposed.attributes.push_back(g.x[2]);
    by_input.push_back(transposed);
  }
  check<op::conv2d_input_gradient>(by_input, input_gradient, sums);
  check<op::conv2d_filter_gradient>(by_filter, filter_gradient, sums);
}

}  // namespace
