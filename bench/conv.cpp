// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling of a small convolutional network, forward and backward, and its training step.
#include <benchmark/benchmark.h>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr tg::extent batch = 64;
constexpr tg::conv_options same{.padding = tg::same_padding};

tg::tensor<float> numbers(const tg::shape& dims) {
  tg::tensor<float> t(dims);
  int i = 0;
  for (float& v : t.span()) v = static_cast<float>((i++ * 7919) % 1013) / 506.5f - 1.0f;
  return t;
}

enum class part { forward, input_gradient, filter_gradient };

template <part Part, tg::extent Extent, tg::extent Channels, tg::extent Filters>
void convolution(benchmark::State& state) {
  const auto x = tg::placeholder<"x", float, batch, Extent, Extent, Channels>();
  const auto w = tg::placeholder<"w", float, 5, 5, Channels, Filters>();
  const auto u = tg::placeholder<"u", float, batch, Extent, Extent, Filters>();
  const auto y = tg::conv2d<same>(x, w);
  const auto weighted = tg::sum(y * u);
  const auto dx = tg::gradient(weighted, x);
  const auto dw = tg::gradient(weighted, w);
  tg::session session(tg::compile([=] { return tg::outputs(y, dx, dw); }), {.intra_op_threads = 1});
  const auto xs = numbers({batch, Extent, Extent, Channels}), ws = numbers({5, 5, Channels, Filters}),
             us = numbers({batch, Extent, Extent, Filters});
  for (auto _ : state) {
    if constexpr (Part == part::forward) benchmark::DoNotOptimize(session.run(y, x = xs, w = ws));
    else if constexpr (Part == part::input_gradient) benchmark::DoNotOptimize(session.run(dx, x = xs, w = ws, u = us));
    else benchmark::DoNotOptimize(session.run(dw, x = xs, w = ws, u = us));
  }
  state.counters["FLOPS"] = benchmark::Counter(2.0 * batch * Extent * Extent * Filters * 25 * Channels,
                                               benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(convolution<part::forward, 28, 1, 32>);
BENCHMARK(convolution<part::filter_gradient, 28, 1, 32>);
BENCHMARK(convolution<part::forward, 14, 32, 64>);
BENCHMARK(convolution<part::input_gradient, 14, 32, 64>);
BENCHMARK(convolution<part::filter_gradient, 14, 32, 64>);

void pooling(benchmark::State& state) {
  const auto x = tg::placeholder<"x", float, batch, 28, 28, 32>();
  const auto y = tg::max_pool<2>(x);
  tg::session session(tg::compile([=] { return tg::outputs(y); }), {.intra_op_threads = 1});
  const auto xs = numbers({batch, 28, 28, 32});
  for (auto _ : state) benchmark::DoNotOptimize(session.run(y, x = xs));
}
BENCHMARK(pooling);

void training_step(benchmark::State& state) {
  const auto x = tg::placeholder<"x", float, batch, 28, 28, 1>();
  const auto labels = tg::placeholder<"labels", std::int32_t, batch>();
  const auto first = tg::max_pool<2>(tg::conv2d<"conv1", 32, 5, same>(x, tg::relu));
  const auto second = tg::max_pool<2>(tg::conv2d<"conv2", 64, 5, same>(first, tg::relu));
  const auto hidden = tg::dense<"hidden", 1024>(tg::flatten(second), tg::relu);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"out", 10>(hidden), labels));
  const auto train = tg::minimize(loss, tg::sgd{0.01});
  tg::session session(tg::compile([=] { return tg::outputs(train); }), {.intra_op_threads = 1});
  const auto xs = numbers({batch, 28, 28, 1});
  tg::tensor<std::int32_t> ys(tg::shape{batch});
  for (tg::extent i = 0; i < batch; ++i) ys[i] = static_cast<std::int32_t>(i % 10);
  for (auto _ : state) session.run(train, x = xs, labels = ys);
}
BENCHMARK(training_step)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
