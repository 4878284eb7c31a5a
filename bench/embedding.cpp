// SPDX-License-Identifier: BSL-1.0
// A step of training of 32 rows of a table of 100,000 x 64 floats: once as rows, once with a gradient that is made
// dense by a factor. The counter is the arena of the step.
#include <benchmark/benchmark.h>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
constexpr tg::extent table_rows = 100'000, width = 64, batch = 32;

template <class Optimizer, bool Sparse>
static void embedding(benchmark::State& state) {
  const auto table = tg::variable<"table", float, table_rows, width>(tg::glorot_uniform);
  const auto found = tg::embedding_lookup(table, ids);
  const auto loss = tg::mean(found * found);
  const auto train = [&] {
    if constexpr (Sparse) {
      return tg::minimize(loss, Optimizer{});
    } else {
      const auto [pair] = tg::compute_gradients(loss, table);
      return tg::apply_gradients(Optimizer{}, std::make_tuple(std::make_pair(pair.first, pair.second * 1.0f)));
    }
  }();
  const auto program = tg::compile([=] { return tg::outputs(train); });
  tg::session session(program, {.intra_op_threads = 1});
  tg::tensor<std::int32_t> at(tg::shape{batch});
  for (tg::extent i = 0; i < batch; ++i) at[i] = static_cast<std::int32_t>(i * 7919 % table_rows);
  for (auto round : state) session.run(train, ids = at);
  state.counters["arena"] = static_cast<double>(decltype(program)::peak_bytes(batch));
}
BENCHMARK(embedding<tg::adagrad, true>)->Unit(benchmark::kMicrosecond);
BENCHMARK(embedding<tg::adagrad, false>)->Unit(benchmark::kMicrosecond);
BENCHMARK(embedding<tg::adam, true>)->Unit(benchmark::kMicrosecond);
BENCHMARK(embedding<tg::adam, false>)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
