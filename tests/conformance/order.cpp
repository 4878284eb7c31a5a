// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "conformance/suite.hpp"
#include "tagma/base/random.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;

const std::vector<shape> shapes = {{1},       {7},    {33},   {7, 13},   {13, 1},  {1, 17},
                                   {2, 3, 8}, {0, 7}, {7, 0}, {3, 1025}, {701, 9}, {2, 1, 3, 5}};

TEST_CASE("positions that sort rows") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  std::vector<problem> all;
  for (const ir::attribute descending : {0, 1}) {
    for (const shape& s : shapes) {
      all.push_back({{{s, -100, 100}}, {descending}});
      problem ties{{{s}}, {descending}};
      for (extent i = 0; i < s.elements(); ++i) ties.in[0].values.push_back(static_cast<double>(i * i % 5));
      all.push_back(ties);
    }
    problem special{{{{2, 5}, 0, 0, {nan, 1, infinity, nan, -infinity, 0.0, -0.0, -1, 0.0, nan}}}, {descending}};
    special.applies = [](const signature& s) { return tagma::is_floating(s.element); };
    all.push_back(special);
  }
  check<op::argsort>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    array y(out.dims);
    const extent n = out.dims[out.dims.rank - 1];
    std::vector<extent> order(static_cast<std::size_t>(n));
    for (extent first = 0; first < out.dims.elements(); first += n) {
      const auto less = [&](extent i, extent j) {
        const double x = in[0][first + i], z = in[0][first + j];
        return x < z || (std::isnan(z) && !std::isnan(x));
      };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](extent i, extent j) { return a[0] != 0 ? less(j, i) : less(i, j); });
      for (extent i = 0; i < n; ++i) y[first + i] = static_cast<double>(order[static_cast<std::size_t>(i)]);
    }
    return y;
  });
}

TEST_CASE("running sums") {
  std::vector<problem> all;
  for (const ir::attribute exclusive : {0, 1})
    for (const ir::attribute reverse : {0, 1}) {
      for (const shape& s : shapes)
        for (int axis = 0; axis < s.rank; ++axis)
          all.push_back({{{s, 0, 2}}, {axis, exclusive, reverse}, s.elements() <= 100});
      all.push_back({{{{20011}, 0, 1}}, {0, exclusive, reverse}, false});
      all.push_back({{{{5003, 3}, 0, 1}}, {0, exclusive, reverse}, false});
      all.push_back({{{{3, 50, 70}, -1, 1}}, {1, exclusive, reverse}, false});
    }
  check<op::cumulative_sum>(all,
                            [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
                              array y(out.dims);
                              const auto axis = static_cast<int>(a[0]);
                              const extent count = out.dims[axis],
                                           inner = out.dims.sub(axis + 1, out.dims.rank).elements();
                              for (extent line = 0; count > 0 && line < out.dims.elements() / count; ++line) {
                                double sum = 0;
                                for (extent k = 0; k < count; ++k) {
                                  const extent along = a[2] != 0 ? count - 1 - k : k;
                                  const extent i = (line / inner * count + along) * inner + line % inner;
                                  y[i] = a[1] != 0 ? sum : sum + in[0][i];
                                  sum += in[0][i];
                                }
                              }
                              return y;
                            },
                            {.slack = 4});
}

TEST_CASE("random permutations") {
  std::vector<problem> all;
  for (const extent n : {0, 1, 2, 7, 1025}) {
    all.push_back({{{{n, 2}}}, {}});
    all.push_back({{}, {n}});
  }
  check<op::random_permutation>(all, [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    const auto word = [source = static_cast<std::uint32_t>(in.size())](double position) {
      const auto i = static_cast<std::uint64_t>(position);
      const auto r = tagma::random_block({1, source, 1}, i / 2);  // as `kernel_problem` has it; runs count from 1
      return i % 2 == 0 ? r[0] | std::uint64_t{r[1]} << 32 : r[2] | std::uint64_t{r[3]} << 32;
    };
    array y(out.dims);
    std::iota(y.at.begin(), y.at.end(), 0);
    std::stable_sort(y.at.begin(), y.at.end(), [&](double a, double b) { return word(a) < word(b); });
    return y;
  });
}

}  // namespace
