// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

/// The numbers of an update: the learning rate, the steps done before it, and what else the optimizer has.
struct numbers {
  double rate = 0;
  double step = 0;
  std::vector<double> more{};
};

/// One element of an update: the variable, its slots, its gradient.
using update_rule = void (*)(double& v, double* s, double g, const numbers& h);

void sgd(double& v, double*, double g, const numbers& h) { v -= h.rate * g; }
void momentum(double& v, double* s, double g, const numbers& h) {
  s[0] = h.more[0] * s[0] + g;
  v -= h.rate * (h.more[1] != 0 ? g + h.more[0] * s[0] : s[0]);
}
void adagrad(double& v, double* s, double g, const numbers& h) {
  s[0] += g * g;
  v -= h.rate * g / std::sqrt(s[0]);
}
void adadelta(double& v, double* s, double g, const numbers& h) {
  const double rho = h.more[0], epsilon = h.more[1];
  s[0] = rho * s[0] + (1 - rho) * g * g;
  const double u = std::sqrt(s[1] + epsilon) / std::sqrt(s[0] + epsilon) * g;
  v -= h.rate * u;
  s[1] = rho * s[1] + (1 - rho) * u * u;
}
void rmsprop(double& v, double* s, double g, const numbers& h) {
  s[0] += (g * g - s[0]) * (1 - h.more[0]);
  s[1] = h.more[1] * s[1] + h.rate * g / std::sqrt(s[0] + h.more[2]);
  v -= s[1];
}
void centered_rmsprop(double& v, double* s, double g, const numbers& h) {
  s[0] += (g * g - s[0]) * (1 - h.more[0]);
  s[2] += (g - s[2]) * (1 - h.more[0]);
  s[1] = h.more[1] * s[1] + h.rate * g / std::sqrt(s[0] - s[2] * s[2] + h.more[2]);
  v -= s[1];
}
void adam(double& v, double* s, double g, const numbers& h) {
  const double t = h.step + 1;
  s[0] += (g - s[0]) * (1 - h.more[0]);
  s[1] += (g * g - s[1]) * (1 - h.more[1]);
  v -= h.rate * std::sqrt(1 - std::pow(h.more[1], t)) / (1 - std::pow(h.more[0], t)) * s[0] /
       (std::sqrt(s[1]) + h.more[2]);
}
void adamw(double& v, double* s, double g, const numbers& h) {
  v -= h.rate * h.more[3] * v;
  adam(v, s, g, h);
}
void ftrl(double& v, double* s, double g, const numbers& h) {
  const double power = h.more[0], l1 = h.more[2], l2 = h.more[3], shrinkage = h.more[4];
  const double next = s[0] + g * g;
  s[1] += g + 2 * shrinkage * v - (std::pow(next, -power) - std::pow(s[0], -power)) / h.rate * v;
  const double sign = s[1] > 0 ? 1 : s[1] < 0 ? -1 : 0;
  v = std::fabs(s[1]) > l1 ? (sign * l1 - s[1]) / (std::pow(next, -power) / h.rate + 2 * l2) : 0;
  s[0] = next;
}

const shape scalar{};

/// The operands of an update on a device, and what the update makes of them.
struct training_step {
  kernel_problem p;
  std::vector<array> in;
  std::vector<array> expected;  ///< the variable and its slots
  check_options options;

  /// @param dims of the variable and its slots
  training_step(const ir::op_rules& rules, dtype type, const shape& dims, std::size_t slots) {
    p.rules = &rules;
    for (std::size_t i = 0; i <= slots; ++i) {
      // Slots are sums of squares, or means of gradients; both kinds are positive here.
      add({type, dims}, scattered(type, dims, i == 0 ? -2 : 1.0, i == 0 ? 2 : 3.0, 40 + i));
      options.written |= 1u << i;
    }
    p.out = p.in[0];
    options.slack = 4;
  }
  void add(const tensor_spec& spec, array a) {
    p.in.push_back(spec);
    in.push_back(std::move(a));
  }
  void add(const numbers& h) {
    add({dtype::float64, scalar}, array(scalar, h.rate));
    add({dtype::int64, scalar}, array(scalar, h.step));
    for (const double n : h.more) add({dtype::float64, scalar}, array(scalar, n));
  }
  void run(const device& on, dtype type) {
    INFO(on.name() << ": " << p.rules->info->name << " of " << to_string(p.out));
    array result = run_kernel(on, p, in, options);
    compare(result, expected[0], type, options.slack, "variable");
    for (std::size_t i = 1; i < expected.size(); ++i)
      compare(in[i], expected[i], type, options.slack, "slot " + std::to_string(i - 1));
  }
};

/// Element `i` of the expected variable and slots, moved by a rule.
void move(std::vector<array>& expected, update_rule rule, extent i, double gradient, const numbers& h) {
  double s[3]{};
  for (std::size_t k = 1; k < expected.size(); ++k) s[k - 1] = expected[k][i];
  rule(expected[0][i], s, gradient, h);
  for (std::size_t k = 1; k < expected.size(); ++k) expected[k][i] = s[k - 1];
}

template <class Update>
void check_update(update_rule rule, const std::vector<numbers>& all) {
  constexpr std::size_t slots = Update::slots.size();
  const ir::op_rules& dense = ir::rules<Update>;
  for (const device* on : devices())
    for (const signature& types : find_operation(dense).signatures) {
      if (!on->has(*dense.info, types)) continue;
      const dtype type = types.element;
      for (const numbers& h : all)
        for (const shape& s :
             {shape{1}, shape{7}, shape{13}, shape{17}, shape{}, shape{7, 13}, shape{0}, shape{3, 33331}}) {
          training_step step(dense, type, s, slots);
          step.expected = step.in;
          const array gradient = scattered(type, s, -1, 1, 77);
          step.add({type, s}, gradient);
          step.add(h);
          for (extent i = 0; i < s.elements(); ++i) move(step.expected, rule, i, gradient[i], h);
          step.run(*on, type);
        }
      record_values(*on, *dense.info, types);
    }
}

/// The rows of a sparse gradient, in one part or two, with indices of any type, some of them several times.
template <class Update>
void check_row_update(update_rule rule, const std::vector<numbers>& all) {
  constexpr std::size_t slots = Update::slots.size();
  const ir::op_rules& sparse = ir::rules<op::apply_rows<Update>>;
  const auto one_case = [&](const device& on, dtype type, dtype index, const numbers& h, const shape& table,
                            const std::vector<extent>& counts) {
    training_step step(sparse, type, table, slots);
    step.expected = step.in;
    // The sum of a row is formed in the order of indices, rounded after each addition.
    step.options.slack = 8;
    const extent width = table.sub(1, table.rank).elements();
    array sum(table);
    std::vector<char> touched(static_cast<std::size_t>(table[0]), Update::moves_all_rows);
    std::vector<std::pair<array, array>> parts;
    std::vector<std::pair<shape, shape>> dims;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      shape rows = table;
      rows[0] = counts[p];
      dims.emplace_back(rows, shape{counts[p]});
      parts.emplace_back(scattered(type, rows, -0.5, 0.5, 60 + p),
                         scattered(index, {counts[p]}, 0, static_cast<double>(table[0]), 70 + p));
      for (extent i = 0; i < counts[p]; ++i) {
        const auto to = static_cast<extent>(parts[p].second[i]);
        touched[static_cast<std::size_t>(to)] = 1;
        for (extent c = 0; c < width; ++c) sum[to * width + c] += parts[p].first[i * width + c];
      }
    }
    step.add({type, dims[0].first}, parts[0].first);
    step.add(h);
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (p > 0) step.add({type, dims[p].first}, parts[p].first);
      step.add({index, dims[p].second}, parts[p].second);
    }
    step.p.attributes = {static_cast<ir::attribute>(counts.size())};
    for (extent i = 0; i < table.elements(); ++i)
      if (touched[static_cast<std::size_t>(i / width)] != 0) move(step.expected, rule, i, sum[i], h);
    step.run(on, type);
  };
  for (const device* on : devices())
    for (const signature& types : find_operation(sparse).signatures) {
      if (!on->has(*sparse.info, types)) continue;
      const numbers& h = all.front();
      for (const dtype index : {dtype::int64, dtype::int32, dtype::uint8}) {
        one_case(*on, types.element, index, h, {13, 7}, {5});
        one_case(*on, types.element, index, h, {7, 17}, {13, 8});
      }
      one_case(*on, types.element, dtype::int32, all.back(), {7, 1}, {17});
      one_case(*on, types.element, dtype::int32, h, {13}, {7});
      one_case(*on, types.element, dtype::int32, h, {7, 13}, {0});
      one_case(*on, types.element, dtype::int32, h, {7, 0}, {3});
      one_case(*on, types.element, dtype::int64, h, {900, 130}, {400, 300});
      record_values(*on, *sparse.info, types);
    }
}

template <class Update>
void check_both(update_rule rule, const std::vector<numbers>& all) {
  check_update<Update>(rule, all);
  check_row_update<Update>(rule, all);
}

TEST_CASE("plain gradient descent") {
  check_both<op::apply_sgd>(sgd, {{0.1}});
  check_both<op::apply_momentum>(momentum, {{0.1, 0, {0.9, 0}}, {0.1, 3, {0.9, 1}}});
}
TEST_CASE("rates by squares") {
  check_both<op::apply_adagrad>(adagrad, {{0.1, 0, {0.1}}});
  check_both<op::apply_adadelta>(adadelta, {{0.5, 2, {0.95, 1e-3}}});
  check_both<op::apply_rmsprop>(rmsprop, {{0.1, 0, {0.9, 0.5, 1e-3}}});
}
TEST_CASE("rates by variances") {
  // The slot of the mean is larger than the root of the mean square by nothing that is possible: epsilon makes up for
  // it.
  check_both<op::apply_centered_rmsprop>(centered_rmsprop, {{0.1, 0, {0.9, 0.5, 20}}});
}
TEST_CASE("moments") {
  check_both<op::apply_adam>(adam, {{0.1, 0, {0.9, 0.999, 1e-3}}, {0.1, 999, {0.9, 0.999, 1e-3}}});
  check_both<op::apply_adamw>(adamw, {{0.1, 0, {0.9, 0.999, 1e-3, 0.01}}, {0.1, 9, {0.9, 0.999, 1e-3, 0.01}}});
}
TEST_CASE("regularised leaders") {
  check_both<op::apply_ftrl>(ftrl, {{0.5, 0, {-0.5, 0.1, 1.5, 0.2, 0.01}}, {0.5, 0, {-0.5, 0.1, 0, 0, 0}}});
}

TEST_CASE("learning rates that follow a schedule") {
  const auto at = [](const tagma::rate& rate, const std::function<double(double)>& f) {
    std::vector<problem> all;
    const tagma::carried_value value = rate.value();
    for (const double step : {0, 1, 7, 13, 20, 1000}) {
      problem p{{{{}, 0, 0, {step}, dtype::int64}}, {}};
      p.value = &value;
      all.push_back(p);
    }
    check<op::scheduled_rate>(all, [f](const std::vector<array>& in, const std::vector<ir::attribute>&,
                                       const tensor_spec&) { return array(scalar, f(in[0][0])); });
  };
  at(0.25, [](double) { return 0.25; });
  at(tagma::exponential_decay{0.1, 5, 0.5}, [](double s) { return 0.1 * std::pow(0.5, s / 5); });
  at(tagma::exponential_decay{0.1, 5, 0.5, true}, [](double s) { return 0.1 * std::pow(0.5, std::floor(s / 5)); });
  at(tagma::polynomial_decay{0.1, 13, 0.01, 2},
     [](double s) { return s >= 13 ? 0.01 : 0.09 * std::pow(1 - s / 13, 2) + 0.01; });
  at(tagma::cosine_decay{0.1, 13, 0.2},
     [](double s) { return 0.1 * (0.8 * (1 + std::cos(std::numbers::pi * std::fmin(s, 13) / 13)) / 2 + 0.2); });
  at(tagma::piecewise_constant{{1, 13}, {0.3, 0.2, 0.1}}, [](double s) { return s <= 1 ? 0.3 : s <= 13 ? 0.2 : 0.1; });
  at(tagma::rate(0.4).after_warm_up(8), [](double s) { return s < 8 ? 0.4 * (s + 1) / 8 : 0.4; });
}

}  // namespace
