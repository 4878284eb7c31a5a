// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;
using specs = std::vector<tensor_spec>;

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

/// The operands of a call by their place among all that an operation may have, with zeros for those left out; elements
/// of one unit.
class unit_view {
 public:
  unit_view(const std::vector<array>& in, const attribute_values& attributes, extent row, extent unit, extent units)
      : in_(in), absent_(attributes.empty() ? 0 : attributes[0]), row_(row), unit_(unit), units_(units) {}
  [[nodiscard]] double operator()(int k, extent gate = 0) const {
    if (((absent_ >> k) & 1) != 0) return 0;
    int at = k;
    for (int i = 0; i < k; ++i) at -= static_cast<int>((absent_ >> i) & 1);
    const array& a = in_[static_cast<std::size_t>(at)];
    const extent column = gate * units_ + unit_;
    return a.dims.rank == 1 ? a[column] : a[row_ * a.dims[1] + column];
  }

 private:
  const std::vector<array>& in_;
  ir::attribute absent_;
  extent row_, unit_, units_;
};

/// A reference out of a formula for one unit, `one(v, write)`.
template <class One>
reference_of_several over_units(int state, const One& one) {
  return [state, one](const std::vector<array>& in, const attribute_values& attributes, const specs& out) {
    std::vector<array> results;
    for (const tensor_spec& s : out) results.emplace_back(s.dims);
    const shape& dims = in[static_cast<std::size_t>(state)].dims;
    for (extent row = 0; row < dims[0]; ++row)
      for (extent unit = 0; unit < dims[1]; ++unit) {
        const auto write = [&](std::size_t k, extent gate, double value) {
          results[k][row * results[k].dims[1] + gate * dims[1] + unit] = value;
        };
        one(unit_view(in, attributes, row, unit, dims[1]), write);
      }
    return results;
  };
}

const std::vector<shape> states = {{1, 1}, {2, 3}, {3, 8}, {5, 13}, {0, 4}, {3, 0}, {33, 40}};

/// Problems whose operands have as many columns as `gates` says times the units, those of -n are vectors.
/// @param optional the first operand that may be left out; those behind it are left out in every way but all at once
std::vector<problem> cells(std::vector<extent> gates, std::size_t optional) {
  std::vector<problem> all;
  for (const shape& s : states) {
    const unsigned ways = 1u << (gates.size() - optional);
    for (unsigned way = 0; way < ways; ++way) {
      if (way == ways - 1 && ways > 1) continue;
      problem p;
      for (std::size_t k = 0; k < gates.size(); ++k)
        if (k < optional || ((way >> (k - optional)) & 1) == 0)
          p.in.push_back({gates[k] < 0 ? shape{-gates[k] * s[1]} : shape{s[0], gates[k] * s[1]}, -1.5, 1.5});
      if (ways > 1) p.attributes = {static_cast<ir::attribute>(way << optional)};
      p.has_gradient = s.elements() <= 30 && (way == 0 || s.elements() <= 6);
      all.push_back(p);
    }
  }
  return all;
}

TEST_CASE("gates of long short-term memory") {
  check_several<op::lstm_gates>(
      cells({4, 1, -4}, 3),
      over_units(1,
                 [](const unit_view& v, const auto& write) {
                   const double i = sigmoid(v(0, 0) + v(2, 0)), j = std::tanh(v(0, 1) + v(2, 1));
                   const double f = sigmoid(v(0, 2) + v(2, 2) + 1), o = sigmoid(v(0, 3) + v(2, 3));
                   const double c = f * v(1) + i * j;
                   write(0, 0, std::tanh(c) * o);
                   write(1, 0, c);
                   write(2, 0, i);
                   write(2, 1, j);
                   write(2, 2, f);
                   write(2, 3, o);
                 }),
      {.slack = 2, .known_axes = 1});
  check_several<op::lstm_gates_gradient>(cells({4, 1, 1, 1, 1, 4}, 3),
                                         over_units(1,
                                                    [](const unit_view& v, const auto& write) {
                                                      const double i = v(0, 0), j = v(0, 1), f = v(0, 2), o = v(0, 3);
                                                      const double e = std::tanh(v(2));
                                                      const double total = v(4) + v(3) * o * (1 - e * e);
                                                      write(0, 0, (total * j + v(5, 0)) * i * (1 - i));
                                                      write(0, 1, (total * i + v(5, 1)) * (1 - j * j));
                                                      write(0, 2, (total * v(1) + v(5, 2)) * f * (1 - f));
                                                      write(0, 3, (v(3) * e + v(5, 3)) * o * (1 - o));
                                                      write(1, 0, total * f);
                                                    }),
                                         {.slack = 8, .gradient_slack = 100, .known_axes = 1});
}

TEST_CASE("gates and output of a gated recurrent unit") {
  check_several<op::gru_gates>(cells({2, 1, -2}, 3),
                               over_units(1,
                                          [](const unit_view& v, const auto& write) {
                                            const double r = sigmoid(v(0, 0) + v(2, 0));
                                            write(0, 0, r * v(1));
                                            write(1, 0, sigmoid(v(0, 1) + v(2, 1)));
                                            write(2, 0, r);
                                          }),
                               {.slack = 2, .known_axes = 1});
  check_several<op::gru_gates_gradient>(cells({1, 1, 1, 1, 1, 1}, 3),
                                        over_units(2,
                                                   [](const unit_view& v, const auto& write) {
                                                     const double u = v(0), r = v(1);
                                                     write(0, 0, (v(3) * v(2) + v(5)) * r * (1 - r));
                                                     write(0, 1, v(4) * u * (1 - u));
                                                     write(1, 0, v(3) * r);
                                                   }),
                                        {.slack = 4, .gradient_slack = 60, .known_axes = 1});
  check_several<op::gru_output>(cells({1, 1, 1, -1}, 4),
                                over_units(1,
                                           [](const unit_view& v, const auto& write) {
                                             const double c = std::tanh(v(2) + v(3));
                                             write(0, 0, v(0) * v(1) + (1 - v(0)) * c);
                                             write(1, 0, c);
                                           }),
                                {.slack = 4, .known_axes = 1});
  check_several<op::gru_output_gradient>(cells({1, 1, 1, 1, 1}, 3),
                                         over_units(1,
                                                    [](const unit_view& v, const auto& write) {
                                                      const double u = v(0), c = v(2), d = v(3);
                                                      write(0, 0, d * (v(1) - c));
                                                      write(1, 0, d * u);
                                                      write(2, 0, (d * (1 - u) + v(4)) * (1 - c * c));
                                                    }),
                                         {.slack = 4, .gradient_slack = 60, .known_axes = 1});
}

}  // namespace
