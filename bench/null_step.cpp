// SPDX-License-Identifier: BSL-1.0
// What a run costs beside its kernels: one scalar in, one addition, one scalar out.
#include <benchmark/benchmark.h>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float>();

static void null_step(benchmark::State& state) {
  const auto y = x + 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(y); });
  tg::session session(program, {.intra_op_threads = 1});
  float value = 0;
  for (auto round : state) {
    value = session.run(y, x = value);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(null_step)->Unit(benchmark::kMicrosecond);

/// The same with a variable that the run updates: the gate of the session is held exclusively.
static void null_update(benchmark::State& state) {
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto update = tg::assign_add(count, x);
  const auto program = tg::compile([=] { return tg::outputs(update); });
  tg::session session(program, {.intra_op_threads = 1});
  for (auto round : state) benchmark::DoNotOptimize(session.run(update, x = 1.0f));
}
BENCHMARK(null_update)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
