// SPDX-License-Identifier: BSL-1.0
// A chain of 1,000 operations on four floats that no pass may join: every multiplication waits for a sum over the one
// before. Reported as time per operation.
#include <benchmark/benchmark.h>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 4>();
constexpr int pairs = 500;

template <int Left, tg::expression E>
auto chain(const E& e) {
  if constexpr (Left == 0)
    return e;
  else
    return chain<Left - 1>(x * tg::sum<0>(e));
}

static void op_chain(benchmark::State& state) {
  const auto y = tg::sum<0>(chain<pairs>(x * 0.5f));
  const auto program = tg::compile([=] { return tg::outputs(y); });
  tg::session session(program, {.intra_op_threads = 1});
  const tg::tensor<float> input(tg::shape{4}, {0.25f, 0.25f, 0.25f, 0.25f});
  for (auto round : state) benchmark::DoNotOptimize(session.run(y, x = input));
  state.counters["operations"] = static_cast<double>(decltype(program)::full_plan::steps.size());
  state.counters["each"] =
      benchmark::Counter(2.0 * pairs + 2, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(op_chain)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
