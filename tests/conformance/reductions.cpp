// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

/// The place in a reduction's result where the element at `p` goes.
extent target(const shape& from, std::uint64_t mask, const position& p) {
  extent at = 0;
  for (int a = 0; a < from.rank; ++a)
    if (((mask >> a) & 1) == 0) at = at * from[a] + p[static_cast<std::size_t>(a)];
  return at;
}

/// Joins the elements of the axes in attribute 0, one after another, from `start` of the element type on.
template <class Start, class Join>
reference joined(const Start& start, const Join& join) {
  return [=](const std::vector<array>& in, const std::vector<ir::attribute>& attributes, const tensor_spec& out) {
    array result(out.dims, start(out.type));
    extent n = 0;
    for_each_position(in[0].dims, [&](const position& p) {
      double& to = result[target(in[0].dims, static_cast<std::uint64_t>(attributes[0]), p)];
      to = join(to, in[0][n++]);
    });
    return result;
  };
}

double lowest(dtype type) {
  switch (type) {
    case dtype::int64:
      return -0x1p63;
    case dtype::int32:
      return -0x1p31;
    case dtype::int16:
      return -0x1p15;
    case dtype::int8:
      return -128;
    case dtype::uint8:
      return 0;
    default:
      return -std::numeric_limits<double>::infinity();
  }
}
double highest(dtype type) {
  // The largest integer of 64 bits is no double: what wraps to it is.
  return type == dtype::uint8      ? 255
         : type == dtype::int64    ? 0x1p62 * 2 - 1024
         : tagma::is_integer(type) ? -lowest(type) - 1
                                   : -lowest(type);
}

const std::vector<shape> shapes = {{13},   {7, 13},  {13, 7}, {1, 17}, {17, 1}, {7, 1, 13},     {5, 4, 3},
                                   {1, 1}, {33, 65}, {7, 0},  {0},     {0, 3},  {2, 3, 2, 3, 2}};

/// Every set of axes of every shape, dropped and kept; and long ones.
std::vector<problem> all_axes(double low, double high, bool of_nothing = true) {
  std::vector<problem> all;
  for (const shape& s : shapes)
    for (std::uint64_t mask = 0; mask < 1u << s.rank; ++mask) {
      if (s.elements() == 0 && !of_nothing) continue;
      const auto attribute = static_cast<ir::attribute>(mask);
      all.push_back({{{s, low, high}}, {attribute, 0}, s.elements() <= 200});
      if (mask % 2 == 1) all.push_back({{{s, low, high}}, {attribute, attribute}, s.elements() <= 20});
    }
  all.push_back({{{{}, low, high}}, {0, 0}});
  return all;
}
std::vector<problem> long_ones(double low, double high) {
  std::vector<problem> all;
  for (const ir::attribute mask : {1, 2, 3}) all.push_back({{{{301, 1111}, low, high}}, {mask, 0}, false});
  all.push_back({{{{90011}, low, high}}, {1, 0}, false});
  all.push_back({{{{17, 31, 301}, low, high}}, {0b101, 0}, false});
  return all;
}

double zero(dtype) { return 0; }
double unit(dtype) { return 1; }

TEST_CASE("sums") {
  std::vector<problem> all = all_axes(-9, 9);
  for (const problem& p : long_ones(0, 1)) all.push_back(p);
  // Sums of 16-bit floats that are formed in 16 bits would stop growing.
  check<op::sum>(all, joined(zero, [](double a, double b) { return a + b; }), {.slack = 4});
}

TEST_CASE("products") {
  std::vector<problem> all = all_axes(0.8, 1.25);
  problem whole{{{{2, 5}, 1, 4}}, {2, 0}, false};
  all.push_back(whole);
  check<op::product>(all, joined(unit, [](double a, double b) { return a * b; }), {.slack = 4});
}

TEST_CASE("extremes") {
  std::vector<problem> all = all_axes(-9, 9, false), nothing;
  for (const problem& p : long_ones(-100, 100)) all.push_back(p);
  for (const shape& s : {shape{7, 0}, shape{0, 3}, shape{0}})
    nothing.push_back({{{s}}, {s.rank == 1 || s[0] == 0 ? 1 : 2, 0}, false});
  const auto larger = [](double a, double b) { return a > b ? a : b; };
  const auto smaller = [](double a, double b) { return a < b ? a : b; };
  check<op::reduce_max>(all, joined(lowest, larger));
  check<op::reduce_min>(all, joined([](dtype t) { return highest(t); }, smaller));
  const auto not_int64 = [](const signature& s) { return s.element != dtype::int64; };
  for (problem& p : nothing) p.applies = not_int64;  // whose highest value is no double
  check<op::reduce_max>(nothing, joined(lowest, larger));
  check<op::reduce_min>(nothing, joined(highest, smaller));
}

TEST_CASE("shares of a mean") {
  std::vector<problem> all;
  for (const shape& s : shapes)
    for (ir::attribute mask = 0; mask < 1 << s.rank; ++mask) all.push_back({{{s}}, {mask}});
  check<op::fraction>(all, [](const std::vector<array>& in, const std::vector<ir::attribute>& a, const tensor_spec&) {
    double count = 1;
    for (int i = 0; i < in[0].dims.rank; ++i)
      if (((a[0] >> i) & 1) != 0) count *= static_cast<double>(in[0].dims[i]);
    return array({}, {1 / count});
  });
}

TEST_CASE("all and any") {
  check<op::all>(all_axes(0, 2), joined(unit, [](double a, double b) { return a != 0 && b != 0; }));
  check<op::any>(all_axes(0, 2), joined(zero, [](double a, double b) { return a != 0 || b != 0; }));
}

TEST_CASE("positions of extremes") {
  const auto position_of = [](bool largest) {
    return [largest](const std::vector<array>& in, const std::vector<ir::attribute>& a, const tensor_spec& out) {
      array result(out.dims), best(out.dims);
      std::vector<char> seen(result.at.size(), 0);
      int axis = 0;
      while (((a[0] >> axis) & 1) == 0) ++axis;
      extent n = 0;
      for_each_position(in[0].dims, [&](const position& p) {
        const auto to = static_cast<std::size_t>(target(in[0].dims, static_cast<std::uint64_t>(a[0]), p));
        const double v = in[0][n++];
        const bool beyond = std::isnan(v) ? !std::isnan(best.at[to]) : largest ? v > best.at[to] : v < best.at[to];
        if (seen[to] != 0 && !beyond) return;
        seen[to] = 1;
        best.at[to] = v;
        result.at[to] = static_cast<double>(p[static_cast<std::size_t>(axis)]);
      });
      return result;
    };
  };
  std::vector<problem> all;
  for (const shape& s : shapes)
    for (int axis = 0; axis < s.rank; ++axis)
      if (s[axis] > 0) all.push_back({{{s, -4, 4}}, {ir::attribute{1} << axis, 0}});
  all.push_back({{{{2, 3}, 0, 0, {1, 7, 7, 4, 0, 0}}}, {2, 0}});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  problem with_nan{{{{3, 4}, 0, 0, {1, nan, 3, nan, nan, 4, 0, 1, 7, 2, 1, nan}}}, {2, 0}};
  with_nan.applies = [](const signature& s) { return tagma::is_floating(s.element); };
  all.push_back(with_nan);
  check<op::argmax>(all, position_of(true));
  check<op::argmin>(all, position_of(false));
}

/// Mean and variance, each by a pass of its own.
std::vector<array> mean_and_variance(const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                                     const std::vector<tensor_spec>& out) {
  const auto mask = static_cast<std::uint64_t>(attributes[0]);
  array mean(out[0].dims), variance(out[1].dims);
  const auto n = static_cast<double>(in[0].dims.elements()) / static_cast<double>(out[0].dims.elements());
  extent i = 0, k = 0;
  for_each_position(in[0].dims, [&](const position& p) { mean[target(in[0].dims, mask, p)] += in[0][i++] / n; });
  for_each_position(in[0].dims, [&](const position& p) {
    const double off = in[0][k++] - mean[target(in[0].dims, mask, p)];
    variance[target(in[0].dims, mask, p)] += off * off / n;
  });
  if (in[0].dims.elements() == 0)
    for (array* a : {&mean, &variance})
      for (double& v : a->at) v = std::numeric_limits<double>::quiet_NaN();
  return {mean, variance};
}

TEST_CASE("means and variances") {
  std::vector<problem> all = all_axes(-3, 3);
  for (problem& p : all) p.has_gradient = p.has_gradient && p.in[0].dims.elements() <= 30;
  all.push_back({{{{301, 111}, -1, 2}}, {1, 0}, false});
  all.push_back({{{{40, 1111}, -1, 2}}, {2, 0}, false});
  all.push_back({{{{17, 31, 33}, -1, 2}}, {0b101, 0}, false});
  all.push_back({{{{70011}, -1, 2}}, {1, 0}, false});
  check_several<op::moments>(all, mean_and_variance, {.slack = 4});
  // A mean far from zero does not drown the variance.
  all = {{{{{3, 20000}, 1000, 1001}}, {2, 0}, false},
         {{{{20000, 3}, 1000, 1001}}, {1, 0}, false},
         {{{{301, 311}, 1000, 1001}}, {1, 0}, false}};
  check_several<op::moments>(all, mean_and_variance, {.slack = 4});
}

}  // namespace
