// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::extent, tagma::shape, tagma::tensor_spec, tagma::window, tagma::window_padding;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;

/// Calls visit(place in x, place in y, elements of the window that lie in the image) for every element of every window.
template <class Visit>
void for_each_seen(const attribute_values& a, const shape& x, const shape& y, const Visit& visit) {
  if (x.elements() == 0 || y.elements() == 0) return;
  struct axis {
    extent in, size, stride, before;
  };
  const auto make = [&](int which, int stride_at, int padding_at) {
    axis s{x[which], a[static_cast<std::size_t>(which + 1)], (a[0] >> stride_at) & 0xffff, 0};
    const extent missing = (y[which] - 1) * s.stride + s.size - s.in;
    s.before = a[1] < 0 ? (missing > 0 ? missing / 2 : 0) : (a[1] >> padding_at) & 0x7fff;
    return s;
  };
  const axis rows = make(1, 0, 0), columns = make(2, 16, 30);
  for_each_position(y, [&](const position& p) {
    std::vector<extent> seen;
    for (extent i = 0; i < rows.size; ++i)
      for (extent j = 0; j < columns.size; ++j) {
        const extent r = p[1] * rows.stride + i - rows.before, c = p[2] * columns.stride + j - columns.before;
        if (r >= 0 && r < x[1] && c >= 0 && c < x[2]) seen.push_back(((p[0] * x[1] + r) * x[2] + c) * x[3] + p[3]);
      }
    for (const extent s : seen) visit(s, place(y, p), static_cast<double>(seen.size()));
  });
}

array largest(const array& x, const attribute_values& a, const shape& y) {
  array result(y, -std::numeric_limits<double>::infinity());
  for_each_seen(a, x.dims, y, [&](extent from, extent to, double) {
    if (x[from] > result[to] || std::isnan(x[from])) result[to] = x[from];
  });
  return result;
}

/// Calls visit(place in x, place in y) for the first element of each window that is the maximum.
template <class Visit>
void for_each_maximum(const attribute_values& a, const array& x, const array& y, const Visit& visit) {
  std::vector<char> found(y.at.size(), 0);
  for_each_seen(a, x.dims, y.dims, [&](extent from, extent to, double) {
    if (found[static_cast<std::size_t>(to)] != 0 || x[from] != y[to]) return;
    found[static_cast<std::size_t>(to)] = 1;
    visit(from, to);
  });
}

struct geometry {
  shape x;
  window size, stride;
  window_padding padding = tagma::valid_padding;
  bool has_gradient = true;
};
const std::vector<geometry> geometries = {{{1, 7, 7, 1}, 2, 2},
                                          {{2, 6, 4, 3}, 2, 2},
                                          {{1, 7, 5, 9}, 3, 2, tagma::same_padding},
                                          {{2, 5, 6, 2}, window(2, 3), 1, tagma::same_padding},
                                          {{1, 8, 7, 2}, 3, window(1, 2), window_padding(1, 2, 2, 0)},
                                          {{1, 1, 17, 1}, window(1, 3), window(1, 1)},
                                          {{3, 1, 1, 13}, 1, 1},
                                          {{2, 7, 7, 1}, 2, 3},
                                          {{0, 6, 6, 3}, 2, 2},
                                          {{2, 6, 6, 0}, 2, 2},
                                          {{1, 24, 1, 2}, window(12, 1), 1, tagma::same_padding},
                                          {{5, 33, 31, 17}, 2, 2, tagma::same_padding, false},
                                          {{9, 24, 24, 16}, 2, 2, tagma::valid_padding, false}};

attribute_values attributes_of(const geometry& g) {
  return {op::window_plane::pack_steps(g.stride, 1), op::window_plane::pack_padding(g.padding), g.size.height,
          g.size.width};
}
shape output_of(const geometry& g) {
  const tensor_spec in[] = {{tagma::dtype::float32, g.x}};
  const auto attributes = attributes_of(g);
  ir::infer_args args{in, attributes, {}};
  REQUIRE(op::max_pool::infer(args) == nullptr);
  return args.out.dims;
}

std::vector<problem> images(double low = -2) {
  std::vector<problem> all;
  for (const geometry& g : geometries) all.push_back({{{g.x, low, 2}}, attributes_of(g), g.has_gradient});
  return all;
}

TEST_CASE("pooling") {
  check<op::max_pool>(images(), [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    return largest(in[0], a, out.dims);
  });
  check<op::average_pool>(
      images(), [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
        array y(out.dims);
        for_each_seen(a, in[0].dims, out.dims, [&](extent from, extent to, double n) { y[to] += in[0][from] / n; });
        return y;
      });
}

TEST_CASE("equal maxima and NaN") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<problem> all;
  all.push_back({{{{1, 2, 4, 1}, 0, 0, {1, 1, nan, 2, 1, 0, 5, nan}}}, attributes_of({{}, 2, 2}), false});
  check<op::max_pool>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    return largest(in[0], a, out.dims);
  });
}

TEST_CASE("where maxima come from") {
  std::vector<problem> gradients, selections;
  for (const geometry& g : geometries) {
    const shape y = output_of(g);
    const auto maxima = [a = attributes_of(g), y](std::vector<array>& in) { in[1] = largest(in[0], a, y); };
    // Few different numbers, so that windows have several maxima.
    problem p{{{g.x, -2, 2}, {y}, {y, -1, 1}}, attributes_of(g), g.has_gradient};
    for (extent i = 0; i < g.x.elements(); ++i) p.in[0].values.push_back(static_cast<double>(i * 7 % 5));
    p.prepare = maxima;
    gradients.push_back(p);
    p.in[2].dims = g.x;
    selections.push_back(p);
  }
  // The gradient by the images is zero almost everywhere, and that by the maxima has no meaning.
  const check_options third{.differentiate = 0b100};
  check<op::max_pool_gradient>(
      gradients,
      [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
        array dx(out.dims);
        for_each_maximum(a, in[0], in[1], [&](extent from, extent to) { dx[from] += in[2][to]; });
        return dx;
      },
      third);
  check<op::max_pool_select>(
      selections,
      [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
        array y(out.dims);
        for_each_maximum(a, in[0], in[1], [&](extent from, extent to) { y[to] = in[2][from]; });
        return y;
      },
      third);
}

TEST_CASE("gradients of means") {
  std::vector<problem> all;
  for (const geometry& g : geometries)
    all.push_back({{{output_of(g), -1, 1}, {g.x}}, attributes_of(g), g.has_gradient});
  check<op::average_pool_gradient>(
      all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
        array dx(out.dims);
        for_each_seen(a, out.dims, in[0].dims, [&](extent to, extent from, double n) { dx[to] += in[0][from] / n; });
        return dx;
      });
}

}  // namespace
