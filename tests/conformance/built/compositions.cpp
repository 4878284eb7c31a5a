// SPDX-License-Identifier: BSL-1.0
// Compositions: values beside plain formulas in double, gradients beside central differences of these.
#include <catch2/catch.hpp>
#include <cmath>

#include "conformance/blocks.hpp"
#include "conformance/built/built.hpp"
#include "conformance/suite.hpp"

namespace tagma::conformance {

namespace {

using attribute_values = std::vector<ir::attribute>;

/// Checks a composition for all floating types, with extents that the graph compiler knows and with others.
void check_composition(std::string_view name, const std::vector<problem>& problems, const reference& expected,
                       const check_options& options = {}) {
  const ir::operation_face* const face = find_face_to_build(name);
  REQUIRE(face != nullptr);
  for (const dtype t : {dtype::float64, dtype::float32, dtype::float16, dtype::bfloat16}) {
    std::uint64_t seed = 1;
    for (const problem& given : problems) {
      const drawn_operands drawn = draw_operands(given, {t, dtype::none, t, {t, t, t}, 3}, seed += 100);
      kernel_problem p{face->rules, drawn.specs, given.attributes, {}};
      p.out = infer(*p.rules, p.in, p.attributes);
      p.outs = {p.out};
      INFO(name << " of " << drawn.text << " to " << to_string(p.out));
      for (const bool known : {true, false}) {
        std::vector<block> blocks;
        for (std::size_t i = 0; i < p.in.size(); ++i) {
          blocks.emplace_back(p.in[i], known, garbage[0]);
          blocks.back().write(drawn.in[i]);
        }
        block result(p.out, known, garbage[1]);
        kernel_call call;
        call.op = p.rules->info;
        call.attributes = p.attributes;
        call.several_threads = !known;
        call.declared = unknown_extents(p);
        for (std::size_t i = 0; i < p.in.size(); ++i) {
          call.in.push_back(blocks[i].operand());
          if (known) call.declared[i] = p.in[i].dims;
        }
        call.out = result.operand();
        built_programs().run(call);
        compare(result.read(), expected(drawn.in, p.attributes, p.out), t, options.slack, "values");
        const reference_of_several one = [&](const std::vector<array>& in, const attribute_values& attributes,
                                             const std::vector<tensor_spec>& out) {
          return std::vector<array>{expected(in, attributes, out[0])};
        };
        check_gradient(built_programs(), p, drawn.in, one, options, known, 1);
      }
    }
  }
  note_operation(name);
}

const std::vector<shape> shapes = {{1}, {7}, {}, {7, 13}, {2, 1, 3}, {0}, {3, 0}};

/// One operand, or several of one shape.
std::vector<problem> alike(int operands, double low, double high, int least_rank = 0) {
  std::vector<problem> all;
  for (const shape& s : shapes)
    if (s.rank >= least_rank)
      all.push_back({std::vector<operand_rule>(static_cast<std::size_t>(operands), {s, low, high}), {}});
  return all;
}
template <class F>
reference each(const F& f) {
  return [f](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array y(out.dims);
    for (extent i = 0; i < out.dims.elements(); ++i) {
      double x[2]{};
      for (std::size_t k = 0; k < in.size(); ++k) x[k] = in[k][in[k].dims.rank == 0 ? 0 : i];
      y[i] = f(x[0], x[1]);
    }
    return y;
  };
}
/// The mean of all elements; over none it is not a number.
template <class F>
reference mean_of(const F& f) {
  return [f](const std::vector<array>& in, const attribute_values& a, const tensor_spec&) {
    const array all = each(f)({in[0], in[1]}, a, {dtype::float64, in[0].dims});
    double sum = 0;
    for (const double v : all.at) sum += v;
    return array(shape{}, sum / static_cast<double>(all.at.size()));
  };
}
/// Sums over the last axis.
template <class F>
array rows(const std::vector<array>& in, const F& f) {
  const shape& dims = in[0].dims;
  array y(dims.sub(0, dims.rank - 1));
  const extent width = dims[dims.rank - 1];
  for (extent i = 0; i < dims.elements(); ++i) y[i / width] += f(in[0][i], in[1][i]);
  return y;
}
double mean_square(const std::vector<array>& in) {
  double sum = 0;
  for (const array& a : in)
    for (const double v : a.at) sum += v * v;
  return sum;
}
std::vector<problem> not_empty(std::vector<problem> all) {
  std::erase_if(all, [](const problem& p) { return p.in[0].dims.elements() == 0; });
  return all;
}

TEST_CASE("activations that are compositions") {
  const auto numbers = alike(1, -3, 3);
  const double alpha = 1.6732632423543773, scale = 1.0507009873554805;
  const check_options close{.slack = 4};
  check_composition("elu", numbers, each([](double x, double) { return x > 0 ? x : std::expm1(x); }), close);
  check_composition("selu", numbers,
                    each([=](double x, double) { return scale * (x > 0 ? x : alpha * std::expm1(x)); }), close);
  check_composition("gelu", numbers, each([](double x, double) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }),
                    close);
  check_composition("silu", numbers, each([](double x, double) { return x / (1 + std::exp(-x)); }), close);
  check_composition("relu6", alike(1, -3, 9), each([](double x, double) { return std::fmin(std::fmax(x, 0), 6); }),
                    close);
  check_composition("hard_sigmoid", numbers,
                    each([](double x, double) { return std::fmin(std::fmax(0.2 * x + 0.5, 0), 1); }), close);
  check_composition("softsign", numbers, each([](double x, double) { return x / (1 + std::fabs(x)); }), close);
  std::vector<problem> sloped = numbers;
  for (problem& p : sloped) p.in.push_back({{}, 0.1, 0.4});
  check_composition("leaky_relu", sloped, each([](double x, double slope) { return x > 0 ? x : slope * x; }), close);
  check_composition(
      "sigmoid_cross_entropy", alike(2, 0.1, 3),
      each([](double x, double z) { return std::fmax(x, 0) - x * z + std::log1p(std::exp(-std::fabs(x))); }), close);
}

TEST_CASE("losses that are compositions") {
  const check_options close{.slack = 8};
  const auto pairs = not_empty(alike(2, -2, 2)), probabilities = not_empty(alike(2, 0.1, 0.9));
  check_composition("mean_squared_error", pairs, mean_of([](double p, double y) { return (p - y) * (p - y); }), close);
  check_composition("mean_absolute_error", pairs, mean_of([](double p, double y) { return std::fabs(p - y); }), close);
  const auto huber = [](double d, double delta) { return d <= delta ? d * d / 2 : delta * (d - delta / 2); };
  check_composition("huber_loss", pairs, mean_of([=](double p, double y) { return huber(std::fabs(p - y), 1); }),
                    close);
  std::vector<problem> bounded = pairs;
  for (problem& p : bounded) p.in.push_back({{}, 0, 0, {0.75}});
  check_composition("huber_loss", bounded, mean_of([=](double p, double y) { return huber(std::fabs(p - y), 0.75); }),
                    {.slack = 8, .differentiate = 0b11});
  check_composition("hinge_loss", pairs, mean_of([](double p, double y) { return std::fmax(1 - (2 * y - 1) * p, 0); }),
                    {.slack = 16});
  check_composition(
      "log_loss", probabilities,
      mean_of([](double p, double y) { return -y * std::log(p + 1e-7) - (1 - y) * std::log(1 - p + 1e-7); }), close);
  check_composition("cosine_distance", not_empty(alike(2, -1, 1, 1)),
                    [](const std::vector<array>& in, const attribute_values&, const tensor_spec&) {
                      const array sums = rows(in, [](double p, double y) { return p * y; });
                      double all = 0;
                      for (const double s : sums.at) all += 1 - s;
                      return array(shape{}, all / static_cast<double>(sums.at.size()));
                    },
                    {.slack = 16});
  check_composition("kl_divergence", not_empty(alike(2, 0.2, 0.9, 1)),
                    [](const std::vector<array>& in, const attribute_values&, const tensor_spec&) {
                      return rows(in, [](double q, double p) { return p * std::log(p / q); });
                    },
                    {.slack = 16});
  check_composition("softmax_cross_entropy", not_empty(alike(2, 0.1, 0.9, 1)),
                    [](const std::vector<array>& in, const attribute_values&, const tensor_spec&) {
                      const array exponents = rows(in, [](double x, double) { return std::exp(x); });
                      const extent width = in[0].dims[in[0].dims.rank - 1];
                      extent i = 0;
                      return rows(in, [&](double x, double y) { return y * (std::log(exponents[i++ / width]) - x); });
                    },
                    {.slack = 16});
  check_composition("l2_loss", alike(1, -1, 1),
                    [](const std::vector<array>& in, const attribute_values&, const tensor_spec&) {
                      return array(shape{}, mean_square(in) / 2);
                    },
                    {.slack = 16});
}

TEST_CASE("means, variances and norms") {
  /// Over the axes of a mask: the mean of `f`, which is told the mean of all.
  const auto moment = [](bool squares) {
    return [squares](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
      const shape& dims = in[0].dims;
      shape kept = dims;
      for (int axis = 0; axis < dims.rank; ++axis)
        if (((a[0] >> axis) & 1) != 0) kept[axis] = 1;
      array mean(kept), spread(kept);
      const auto count = static_cast<double>(dims.elements()) / static_cast<double>(kept.elements());
      extent i = 0;
      for_each_position(dims, [&](const position& p) { mean[place(kept, p)] += in[0][i++] / count; });
      i = 0;
      for_each_position(dims, [&](const position& p) {
        const double d = in[0][i++] - mean[place(kept, p)];
        spread[place(kept, p)] += d * d / count;
      });
      return array(out.dims, squares ? spread.at : mean.at);
    };
  };
  std::vector<problem> all;
  for (const shape& s : {shape{7}, shape{}, shape{7, 13}, shape{2, 1, 3}})
    for (ir::attribute mask = s.rank == 0 ? 0 : 1; mask < (1 << s.rank); ++mask)
      for (const ir::attribute keep : {ir::attribute{0}, mask}) all.push_back({{{s}}, {mask, keep}});
  check_composition("mean", all, moment(false), {.slack = 4});
  check_composition("variance", all, moment(true), {.slack = 8});
  const auto norm = [](const std::vector<array>& in, const attribute_values&, const tensor_spec&) {
    return array(shape{}, std::sqrt(mean_square(in)));
  };
  check_composition("global_norm", not_empty(alike(1, 0.1, 1)), norm, {.slack = 16});
  check_composition("global_norm", {{{{{7, 3}}, {{5}}, {{}}}, {}}}, norm, {.slack = 16});
  std::vector<problem> clipped = not_empty(alike(1, 0.1, 1));
  for (problem& p : clipped) p.in.push_back({{}, 0, 0, {1.25}});
  check_composition("clip_by_norm", clipped,
                    [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
                      array y(out.dims, in[0].at);
                      const double most = in[1][0];
                      for (double& v : y.at) v *= most / std::fmax(std::sqrt(mean_square({in[0]})), most);
                      return y;
                    },
                    {.slack = 16, .differentiate = 0b01});
}

}  // namespace

}  // namespace tagma::conformance
