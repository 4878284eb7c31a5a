// SPDX-License-Identifier: BSL-1.0
// Training from a dataset whose preparation takes as long as a training step: what waits (a timer stands for slow
// storage), and what computes, beside two bare threads that do the same. All ways take turns in one process.
//
//     over_longer  time of an epoch over that of its steps or of its preparation, whichever is longer
//     gain         time of an epoch without any thread over that of this one
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/autotune.hpp"
#include "tagma/datasets.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using clock_type = std::chrono::steady_clock;
using batch_type = tg::tensor<float>;
constexpr tg::extent rows = 128, pixels = 784;
constexpr int steps = 200, rounds = 5;

double seconds_since(clock_type::time_point begun) {
  return std::chrono::duration<double>(clock_type::now() - begun).count();
}
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// Makes a batch, and waits or computes until it took so long.
struct preparation {
  double seconds;
  bool waits;
  std::int64_t turns = 0;

  batch_type operator()(std::int64_t i) const {
    batch_type made(tg::shape{rows, pixels});
    for (std::size_t k = 0; k < made.size(); ++k)
      made[k] = static_cast<float>((k + static_cast<std::size_t>(i)) % 255) / 255;
    if (waits) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    double y = 1;
    for (std::int64_t k = 0; k < turns; ++k) y = y * 0.999 + 1;
    benchmark::DoNotOptimize(y);
    return made;
  }
};

/// What programs write without datasets: one thread prepares, two batches ahead at most, another one trains.
template <class Step>
void by_bare_threads(const preparation& prepare, const Step& step) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<batch_type> ready;
  std::thread producer([&] {
    for (int i = 0; i < steps; ++i) {
      batch_type made = prepare(i);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return ready.size() < 2; });
      ready.push_back(std::move(made));
      changed.notify_all();
    }
  });
  for (int i = 0; i < steps; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ready.empty(); });
    const batch_type batch = std::move(ready.front());
    ready.pop_front();
    changed.notify_all();
    lock.unlock();
    step(batch);
  }
  producer.join();
}

void train(benchmark::State& state, bool waits) {
  constexpr auto x = tg::placeholder<"x", float, rows, pixels>();
  auto hidden = tg::dense<"hidden", 128>(x, tg::relu);
  auto out = tg::dense<"out", 10>(hidden);
  auto loss = tg::mean(tg::square(out));
  auto update = tg::minimize(loss, tg::sgd{.learning_rate = 0.01});
  tg::session session(tg::compile([=] { return tg::outputs(loss, update); }), {.intra_op_threads = 1});
  const auto step = [&](const batch_type& batch) { session.run(update, x = batch); };

  preparation prepare{0, waits};
  const batch_type first = prepare(0);
  const auto time_of = [](const auto& f) {
    const auto begun = clock_type::now();
    f();
    return seconds_since(begun);
  };
  const auto all_steps = [&] {
    for (int i = 0; i < steps; ++i) step(first);
  };
  const auto all_preparations = [&] {
    for (int i = 0; i < steps; ++i) benchmark::DoNotOptimize(prepare(i));
  };
  all_steps();
  const double longest = time_of(all_steps), made = time_of(all_preparations);
  prepare.seconds = (longest - made) / steps;
  prepare.seconds = std::max(prepare.seconds, 1e-6);
  if (!waits) {
    constexpr std::int64_t some = 100'000;
    prepare.turns = some;
    const double took = (time_of(all_preparations) - made) / steps;
    prepare.turns = static_cast<std::int64_t>(static_cast<double>(some) * prepare.seconds / std::max(took, 1e-6));
  }

  const auto data = tg::datasets::range(steps);
  const auto from = [&](const auto& of) {
    return [&] {
      for (const auto& batch : of) step(batch);
    };
  };
  const auto plain = data.map(prepare), ahead = plain.prefetch(2), mapped = data.map(prepare, {.threads = 1});
  const auto tuned = data.map(prepare, tg::datasets::autotune);
  std::vector<double> work, none, prefetched, map_thread, found, bare;
  for (auto round : state)
    for (int i = 0; i < rounds; ++i) {
      work.push_back(std::max(time_of(all_steps), time_of(all_preparations)));
      none.push_back(time_of(from(plain)));
      prefetched.push_back(time_of(from(ahead)));
      map_thread.push_back(time_of(from(mapped)));
      found.push_back(time_of(from(tuned)));
      bare.push_back(time_of([&] { by_bare_threads(prepare, step); }));
    }
  const double longer = median(work), alone = median(none);
  state.counters["step_us"] = longer / steps * 1e6;
  for (const auto& [name, times] :
       {std::pair("prefetch", &prefetched), {"map", &map_thread}, {"autotune", &found}, {"bare", &bare}}) {
    state.counters[std::string("over_longer_") + name] = median(*times) / longer;
    state.counters[std::string("gain_") + name] = alone / median(*times);
  }
}

}  // namespace

BENCHMARK_CAPTURE(train, waits, true)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(train, computes, false)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
BENCHMARK_MAIN();
