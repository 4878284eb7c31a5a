// SPDX-License-Identifier: BSL-1.0
// Programs that are data beside compiled ones: steps of training, fused loops that are interpreted, and a run that
// does nothing. --benchmark_enable_random_interleaving=true --benchmark_repetitions=9 has them take turns.
#include <benchmark/benchmark.h>

#include <initializer_list>
#include <string_view>

#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", int, tg::dyn>();
constexpr auto image = tg::placeholder<"image", float, tg::dyn, 28, 28, 1>();
constexpr auto a = tg::placeholder<"a", float, tg::dyn>();
constexpr auto b = tg::placeholder<"b", float, tg::dyn>();

struct parts {
  static auto logits() { return tg::dense<"out", 10>(tg::dense<"hidden", 128>(x, tg::relu)); }
  static auto train() {
    return tg::minimize(tg::mean(tg::sparse_softmax_cross_entropy(logits(), y)), tg::sgd{.learning_rate = 0.1});
  }
  static auto train_images() {
    constexpr tg::conv_options same{.padding = tg::same_padding};
    const auto pooled = tg::max_pool<2>(tg::conv2d<"conv1", 32, 5, same>(image, tg::relu));
    const auto flat = tg::flatten(tg::max_pool<2>(tg::conv2d<"conv2", 64, 5, same>(pooled, tg::relu)));
    const auto scores = tg::dense<"scores", 10>(tg::dense<"units", 1024>(flat, tg::relu));
    return tg::minimize(tg::mean(tg::sparse_softmax_cross_entropy(scores, y)), tg::adam{.learning_rate = 1e-3});
  }
};
const auto train = parts::train();
const auto train_images = parts::train_images();
const auto fused = tg::tanh(a * b + a) * b - tg::square(a) * 0.5f + tg::relu(b);
const auto v = tg::variable<"v", float>(tg::ones);
const auto program = tg::compile([] { return tg::outputs(train, fused, v); });
const auto image_program = tg::compile([] { return tg::outputs(train_images); });

tg::session_options options(const benchmark::State& state) {
  return {.seed = 3, .intra_op_threads = static_cast<int>(state.range(0))};
}

/// Steps of a program whose output "train" reads `in` and labels.
template <class Program, class Train, class In>
void steps(benchmark::State& state, bool compiled, const Program& of, std::initializer_list<std::string_view> names,
           const Train& step, const In& in, const tg::shape& dims) {
  tg::session one(of, options(state));
  tg::session two(tg::any_program(of, names), options(state));
  const tg::tensor<float> values(dims);
  const tg::tensor<int> labels({dims[0]});
  for (auto _ : state)
    if (compiled)
      one.run(step, in = values, y = labels);
    else
      two.run("train", tg::feed_to(In::record().name, values), tg::feed_to("y", labels));
}
void training(benchmark::State& state, bool compiled) {
  steps(state, compiled, program, {"train", "fused", "v"}, train, x, {state.range(1), 784});
}
void convolutions(benchmark::State& state, bool compiled) {
  steps(state, compiled, image_program, {"train"}, train_images, image, {state.range(1), 28, 28, 1});
}
void loops(benchmark::State& state, bool compiled) {
  tg::session one(program, options(state));
  tg::session two(tg::any_program(program, {"train", "fused", "v"}), options(state));
  const tg::tensor<float> p({state.range(1)}), q({state.range(1)});
  for (auto _ : state)
    if (compiled)
      benchmark::DoNotOptimize(one.run(fused, a = p, b = q));
    else
      benchmark::DoNotOptimize(two.run("fused", tg::feed_to("a", p), tg::feed_to("b", q)));
}
void nothing(benchmark::State& state, bool compiled) {
  tg::session one(program, options(state));
  tg::session two(tg::any_program(program, {"train", "fused", "v"}), options(state));
  for (auto _ : state)
    if (compiled)
      benchmark::DoNotOptimize(one.run(v));
    else
      benchmark::DoNotOptimize(two.run("v"));
}

BENCHMARK_CAPTURE(training, compiled, true)->ArgsProduct({{1, 2}, {32, 256}})->UseRealTime();
BENCHMARK_CAPTURE(training, data, false)->ArgsProduct({{1, 2}, {32, 256}})->UseRealTime();
BENCHMARK_CAPTURE(convolutions, compiled, true)->ArgsProduct({{1, 2}, {64}})->UseRealTime();
BENCHMARK_CAPTURE(convolutions, data, false)->ArgsProduct({{1, 2}, {64}})->UseRealTime();
BENCHMARK_CAPTURE(loops, compiled, true)->ArgsProduct({{1, 2}, {4096, 16000000}})->UseRealTime();
BENCHMARK_CAPTURE(loops, data, false)->ArgsProduct({{1, 2}, {4096, 16000000}})->UseRealTime();
BENCHMARK_CAPTURE(nothing, compiled, true)->Arg(1);
BENCHMARK_CAPTURE(nothing, data, false)->Arg(1);

}  // namespace

BENCHMARK_MAIN();
