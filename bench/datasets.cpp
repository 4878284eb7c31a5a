// SPDX-License-Identifier: BSL-1.0
// What an element costs on its way through a pipeline: numbers, of which there is nothing to compute.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/autotune.hpp"
#include "tagma/datasets.hpp"
#include "tagma/file_cache.hpp"

namespace tg = tagma;

constexpr std::int64_t all_numbers = 1'000'000;
constexpr tg::extent rows_of_batch = 128;

/// Reads a pipeline to its end; the time is that of an element of the source.
template <class T>
static void read(benchmark::State& state, const tg::dataset<T>& data) {
  for (auto round : state) {
    tg::dataset_iterator<T> pass = data.iterator();
    T batch{};
    while (pass.next(batch)) benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(state.iterations() * all_numbers);
}

static tg::dataset<float> numbers() {
  return tg::datasets::range(all_numbers).map([](std::int64_t x) { return static_cast<float>(x) * 0.5f; });
}

static void next(benchmark::State& state) { read(state, numbers()); }
static void batch(benchmark::State& state) { read(state, numbers().batch(rows_of_batch)); }
static void filter_batch(benchmark::State& state) {
  read(state, numbers().filter([](float x) { return x >= 0; }).batch(rows_of_batch));
}
static void shuffle_batch_prefetch(benchmark::State& state) {
  read(state, numbers().shuffle(10'000).batch(rows_of_batch).prefetch(2));
}
static void filter_shuffle_batch_prefetch(benchmark::State& state) {
  read(state, numbers().filter([](float x) { return x >= 0; }).shuffle(10'000).batch(rows_of_batch).prefetch(2));
}
static void shuffle_batch(benchmark::State& state) { read(state, numbers().shuffle(10'000).batch(rows_of_batch)); }
static void global_shuffle_batch(benchmark::State& state) {
  read(state, numbers().global_shuffle().batch(rows_of_batch));
}
static void global_shuffle_batch_prefetch(benchmark::State& state) {
  read(state, numbers().global_shuffle().batch(rows_of_batch).prefetch(2));
}
static void prefetch_each(benchmark::State& state) { read(state, numbers().prefetch(256)); }
static void map_by_two_threads(benchmark::State& state) {
  read(state, tg::datasets::range(all_numbers)
                  .map([](std::int64_t x) { return static_cast<float>(x) * 0.5f; }, {.threads = 2, .ahead = 256}));
}
BENCHMARK(next)->Unit(benchmark::kMillisecond);
BENCHMARK(batch)->Unit(benchmark::kMillisecond);
BENCHMARK(filter_batch)->Unit(benchmark::kMillisecond);
BENCHMARK(shuffle_batch)->Unit(benchmark::kMillisecond);
BENCHMARK(global_shuffle_batch)->Unit(benchmark::kMillisecond);
BENCHMARK(shuffle_batch_prefetch)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(filter_shuffle_batch_prefetch)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(global_shuffle_batch_prefetch)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(prefetch_each)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(map_by_two_threads)->Unit(benchmark::kMillisecond)->UseRealTime();

/// What is found against the best of a grid: a map that waits, as slow storage does, and one that computes, each with
/// every number of threads up to the budget and with `autotune`, in turns; `ratio` is the best of the grid over what
/// was found, both medians. Of a pass with `autotune`, the second half counts for `found`, all of it for `whole`.
constexpr int most_threads = 8, elements_of_pass = 3000;

static std::int64_t wait_a_while(std::int64_t x) {
  std::this_thread::sleep_for(std::chrono::microseconds(500));
  return x;
}
static std::int64_t compute_a_while(std::int64_t x) {
  double y = static_cast<double>(x);
  for (int i = 0; i < 40'000; ++i) y = y * 0.999 + 1;
  benchmark::DoNotOptimize(y);
  return x;
}
static double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}
/// Elements in a second: of the second half, and of all.
static std::pair<double, double> rates(tg::dataset_iterator<std::int64_t> pass) {
  const auto begun = std::chrono::steady_clock::now();
  auto half = begun;
  std::int64_t x = 0;
  for (int i = 0; pass.next(x); ++i)
    if (i == elements_of_pass / 2) half = std::chrono::steady_clock::now();
  return {elements_of_pass / 2 / seconds_since(half), elements_of_pass / seconds_since(begun)};
}
static double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
static void found_against_grid(benchmark::State& state, std::int64_t (*f)(std::int64_t), int processors) {
  const auto data = tg::datasets::range(elements_of_pass);
  std::vector<std::vector<double>> grid(most_threads);
  std::vector<double> found, whole;
  for (auto round : state)
    for (int turn = 0; turn < 5; ++turn) {
      for (int n = 1; n <= processors; ++n)
        grid[static_cast<std::size_t>(n - 1)].push_back(rates(data.map(f, {.threads = n}).iterator()).first);
      const auto [second_half, all] =
          rates(tg::datasets::iterate(data.map(f, tg::datasets::autotune), {.threads = processors}));
      found.push_back(second_half);
      whole.push_back(all);
    }
  double best = 0;
  for (const auto& g : grid)
    if (!g.empty()) best = std::max(best, median(g));
  state.counters["best/s"] = best;
  state.counters["found/s"] = median(found);
  state.counters["ratio"] = best / median(found);
  state.counters["ratio_whole"] = best / median(whole);
}
BENCHMARK_CAPTURE(found_against_grid, waits, wait_a_while, most_threads)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK_CAPTURE(found_against_grid, computes, compute_a_while, 4)->Unit(benchmark::kSecond)->Iterations(1);

/// A pass that reads its elements from a file, once it is there.
static void cached_in_file(benchmark::State& state) {
  const std::string path = "/tmp/tagma_bench_" + std::to_string(std::random_device()()) + ".cache";
  const auto data = numbers().batch(rows_of_batch).cache(path);
  for (auto& batch : data) benchmark::DoNotOptimize(batch);
  read(state, data);
  std::remove(path.c_str());
}
BENCHMARK(cached_in_file)->Unit(benchmark::kMillisecond);

/// Finding a place far behind the beginning again.
static void resume(benchmark::State& state) {
  const auto data = numbers().global_shuffle().batch(rows_of_batch).repeat();
  auto pass = data.iterator();
  pass.skip(1'000'000'000);
  const tg::datasets::position at = pass.state();
  for (auto round : state) benchmark::DoNotOptimize(data.resume(at).next());
}
BENCHMARK(resume)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
