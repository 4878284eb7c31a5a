// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "conformance/suite.hpp"
#include "tagma/base/random.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;

const std::vector<shape> shapes = {{1}, {7}, {8}, {13}, {17}, {}, {7, 13}, {0}, {7, 0}, {2, 1, 3, 1, 2, 5}, {3, 33331}};

template <class F>
reference each(const F& f) {
  return [f](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array y(out.dims);
    for (extent i = 0; i < out.dims.elements(); ++i) y[i] = f(in[0][i], in[1][i]);
    return y;
  };
}

TEST_CASE("new values of variables") {
  std::vector<problem> all;
  for (const shape& s : shapes) all.push_back({{{s, -100, 100}, {s, -100, 100}}});
  check<op::assign>(all, each([](double, double b) { return b; }));
  check<op::assign_add>(all, each([](double a, double b) { return a + b; }));
  check<op::assign_sub>(all, each([](double a, double b) { return a - b; }));
}

TEST_CASE("sums at rows of variables") {
  struct update {
    shape variable, indices;
  };
  const std::vector<update> updates = {{{13}, {7}},      {{13}, {}},        {{7, 17}, {5}}, {{7, 1}, {2, 3}},
                                       {{7, 3, 2}, {1}}, {{7, 13}, {0}},    {{7, 0}, {3}},  {{0, 4}, {0}},
                                       {{1, 8}, {9}},    {{120, 65}, {300}}};
  std::vector<problem> all;
  for (const update& u : updates) {
    shape rows = u.indices;
    for (int i = 1; i < u.variable.rank; ++i) rows.push_back(u.variable[i]);
    all.push_back({{{u.variable, -9, 9}, {u.indices, 0, static_cast<double>(u.variable[0])}, {rows, -2, 2}}});
  }
  check<op::scatter_add>(all,
                         [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
                           array y = in[0];
                           const extent width = out.dims.sub(1, out.dims.rank).elements();
                           for (extent i = 0; i < in[2].dims.elements(); ++i)
                             y[static_cast<extent>(in[1][i / width]) * width + i % width] += in[2][i];
                           return y;
                         },
                         {.slack = 8});
}

/// Number `i` of a stream of random words, in [0, 1): how base/random.hpp says they are made.
struct stream {
  tagma::random_key key;
  bool wide;  ///< two words for a double, one for a float

  [[nodiscard]] double uniform(extent i) const {
    const auto per_block = wide ? 2 : 4;
    const auto r = tagma::random_block(key, static_cast<std::uint64_t>(i / per_block));
    const auto at = static_cast<std::size_t>(i % per_block);
    return wide ? tagma::uniform01(r[2 * at], r[2 * at + 1]) : static_cast<double>(tagma::uniform01(r[at]));
  }
  /// Box and Muller: neighbours share a radius, a quarter turn apart.
  [[nodiscard]] double normal(extent i, std::uint16_t attempt = 0) const {
    const auto per_block = wide ? 2 : 4;
    const auto r = tagma::random_block(key, static_cast<std::uint64_t>(i / per_block), attempt);
    const auto at = static_cast<std::size_t>(i % per_block / 2 * 2);
    const double radius = wide ? tagma::uniform01(r[0], r[1]) : static_cast<double>(tagma::uniform01(r[at]));
    const double turns = wide ? tagma::uniform01(r[2], r[3]) : static_cast<double>(tagma::uniform01(r[at + 1]));
    return std::sqrt(-2 * std::log(1 - radius)) * std::cos(2 * std::numbers::pi * (turns - (i % 2 == 1 ? 0.25 : 0.0)));
  }
  [[nodiscard]] double truncated(extent i) const {
    std::uint16_t attempt = 0;
    double z = normal(i);
    while (!(z > -2 && z < 2)) z = normal(i, ++attempt);
    return z;
  }
};

template <class Draw>
reference drawn(const Draw& draw) {
  return [draw](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array y(out.dims);
    // As `kernel_problem` has it; runs count from 1.
    const stream numbers{{1, static_cast<std::uint32_t>(in.size()), 1}, out.type == dtype::float64};
    for (extent i = 0; i < out.dims.elements(); ++i) y[i] = draw(numbers, i, out.type);
    return y;
  };
}

TEST_CASE("random tensors") {
  std::vector<problem> all;
  for (const shape& s : shapes) {
    all.push_back({{{s}}, {0}});
    problem fixed{{}, {0}};
    for (const extent e : s.span()) fixed.attributes.push_back(e);
    all.push_back(fixed);
  }
  for (problem& p : all) p.type_attribute = 0;
  check<op::random_uniform>(all, drawn([](const stream& s, extent i, dtype type) {
                              const double u = s.uniform(i);
                              // What 16 bits cannot hold is cut off: rounded, it could become 1.
                              const double parts = type == dtype::float16 ? 2048 : type == dtype::bfloat16 ? 256 : 0;
                              return parts == 0 ? u : std::floor(u * parts) / parts;
                            }));
  const check_options close{.slack = 4};
  check<op::random_normal>(all, drawn([](const stream& s, extent i, dtype) { return s.normal(i); }), close);
  check<op::truncated_normal>(all, drawn([](const stream& s, extent i, dtype) { return s.truncated(i); }), close);
}

TEST_CASE("initial values") {
  const auto of = [](double value) {
    return [value](const std::vector<array>&, const attribute_values&, const tensor_spec& out) {
      return array(out.dims, value);
    };
  };
  const auto problems = [](tagma::initializer_kind kind) {
    std::vector<problem> all;
    for (const shape& s : shapes) all.push_back({{{s, -9, 9}}, {static_cast<ir::attribute>(kind), 5}});
    return all;
  };
  check<op::initialize>(problems(tagma::initializer_kind::zeros), of(0));
  check<op::initialize>(problems(tagma::initializer_kind::ones), of(1));
  std::vector<problem> three = problems(tagma::initializer_kind::constant), glorot;
  tagma::carried_value number;
  number.number = 3;
  for (problem& p : three) p.attributes[0] = tagma::detail::literal_kind, p.value = &number;
  check<op::initialize>(three, of(3));
  for (problem& p : problems(tagma::initializer_kind::glorot_uniform)) {
    p.applies = [](const signature& s) { return tagma::is_floating(s.element); };
    glorot.push_back(p);
  }
  check<op::initialize>(glorot, [](const std::vector<array>&, const attribute_values&, const tensor_spec& out) {
    const shape& s = out.dims;
    const double field = s.rank < 2 ? 1 : static_cast<double>(s.sub(0, s.rank - 2).elements());
    const double in = s.rank == 0 ? 1 : field * static_cast<double>(s[s.rank < 2 ? 0 : s.rank - 2]);
    const double outputs = s.rank == 0 ? 1 : field * static_cast<double>(s[s.rank - 1]);
    const double bound = std::sqrt(6 / (in + outputs));
    array y(s);
    for (extent i = 0; i < s.elements(); ++i) {
      const auto r = tagma::random_block({1, 5, 0}, static_cast<std::uint64_t>(i));
      y[i] = bound * (2 * tagma::uniform01(r[0], r[1]) - 1);
    }
    return y;
  });
}

}  // namespace
