// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Small programs that the compiler made, as files: what a fuzzer of programs begins with. Inputs of one byte stand for
/// them, so that a corpus has none that is of yesterday's version.

#include <string>
#include <vector>

#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/order.hpp"
#include "tagma/program_files.hpp"
#include "tagma/tagma.hpp"

namespace tagma::fuzz {
namespace {  // as are the types of the closures

namespace seed_inputs {
constexpr auto x = placeholder<"x", float, dyn, 4>();
constexpr auto labels = placeholder<"labels", int, dyn>();
constexpr auto images = placeholder<"images", float, dyn, 4, 4, 1>();
constexpr auto series = placeholder<"series", float, dyn, 3, 2>();
constexpr auto keep = placeholder<"keep", bool, dyn>();
constexpr auto scale = placeholder<"scale", double>();
constexpr auto wide = placeholder<"wide", float16, dyn, dyn>();
constexpr auto count = placeholder<"count", std::int64_t>();
}  // namespace seed_inputs

/// A network, and its training by two optimizers.
any_program seed_of_training() {
  using namespace seed_inputs;
  const auto logits = dense<"out", 3>(dense<"hidden", 5>(x, relu));
  const auto loss = mean(sparse_softmax_cross_entropy(logits, labels));
  const auto train = minimize(loss, adam{.learning_rate = 0.1});
  const auto slower = minimize(
      loss, momentum{.learning_rate = exponential_decay{.initial = 0.1, .decay_steps = 100, .decay_rate = 0.5}});
  return any_program(compile([=] { return outputs(loss, train, slower, argmax<1>(logits)); }));
}
any_program seed_of_images() {
  using namespace seed_inputs;
  const auto maps = max_pool<2>(conv2d<"conv", 2, 3, conv_options{.padding = same_padding}>(images, relu));
  const auto loss = mean(sparse_softmax_cross_entropy(dense<"top", 3>(flatten(maps)), labels));
  const auto train = minimize(loss, sgd{.learning_rate = 0.1});
  return any_program(compile([=] { return outputs(loss, train, maps); }));
}
/// A loop over the rows that a mask leaves, with its gradient.
any_program seed_of_late_extents() {
  using namespace seed_inputs;
  const auto rows = boolean_mask(series, keep);
  const auto loss = mean(square(dense<"last", 2>(lstm<"cells", 3>(rows)) - 1.0f));
  const auto train = minimize(loss, rmsprop{.learning_rate = 0.05});
  return any_program(compile([=] { return outputs(loss, train, reduce_max<0>(rows)); }));
}
/// Branches, and a loop that tests.
any_program seed_of_branches() {
  using namespace seed_inputs;
  const auto chosen = cond(
      reduce_max(x) > 0.0f, [](const auto& a) { return sum(exp(a)); }, [](const auto& a) { return sum(a * 2.0f); }, x);
  const auto repeated = while_loop<8>(
      carry(chosen * 0.0f, x), [](const auto& i, const auto&) { return i < 5.0f; },
      [](const auto& i, const auto& a) { return next(i + 1.0f, a * 1.5f); });
  return any_program(compile([=] { return outputs(chosen, gradient(chosen, x), std::get<1>(repeated)); }));
}
/// Element types, literals, variables that begin with elements, updates.
any_program seed_of_variables() {
  using namespace seed_inputs;
  const auto v = variable<"v", double, 4>(tensor<double>({4}, {1, 2, 3, 4}));
  const auto n = variable<"n", std::int64_t>(zeros);
  const auto sum_of = v * scale + cast<double>(sum<0>(x)) * 0.5;
  const auto update = assign_add(v, sum_of);
  const auto counted = after(update)(assign_add(n, count));
  return any_program(compile([=] { return outputs(sum_of, update, counted, cast<float>(v) > 1.0f); }));
}
/// Movement, order, random numbers, on two devices.
any_program seed_of_movement() {
  using namespace seed_inputs;
  const auto turned = on<"/device:CPU:1">([](const auto& a) { return transpose(a); })(x);
  const auto joined = concat<0>(x, x * 2.0f, random_normal<float, 1, 4>());
  const auto best = top_k<2>(joined);
  const auto rows = gather(variable<"table", float, 5, 3>(truncated_normal(0.5)), labels);
  return any_program(compile(
      [=] { return outputs(turned, joined, best.first, best.second, rows, wide + transpose(transpose(wide))); }));
}

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {
      write_program(seed_of_training()), write_program(seed_of_images()),    write_program(seed_of_late_extents()),
      write_program(seed_of_branches()), write_program(seed_of_variables()), write_program(seed_of_movement())};
  return all;
}

}  // namespace
}  // namespace tagma::fuzz
