// SPDX-License-Identifier: BSL-1.0
// Fashion-MNIST on its way into a graph, in shuffled batches of 128: fed, from a variable, by queue runners, from a
// dataset. The graph adds all pixels of a batch up, so that every one of them arrives.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>

#include "tagma/containers.hpp"
#include "tagma/data.hpp"
#include "tagma/input.hpp"
#include "tagma/iterators.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr tg::extent batch = 128, rows = 60'000, pixels = 784;
constexpr int steps = static_cast<int>(rows / batch);

/// The training set, or as many rows of noise where it is not installed: what is in them costs nothing.
struct flat_images {
  tg::tensor<float> images{tg::shape{rows, pixels}};
  tg::tensor<std::uint8_t> labels{tg::shape{rows}};
};
const flat_images& data() {
  static const flat_images all = [] {
    flat_images made;
    if (tg::fashion_mnist_directory().empty()) {
      for (std::size_t i = 0; i < made.images.size(); ++i)
        made.images[i] = static_cast<float>(i * 2654435761U >> 24) / 256;
      for (std::size_t i = 0; i < made.labels.size(); ++i) made.labels[i] = static_cast<std::uint8_t>(i % 10);
    } else {
      const auto train = tg::fashion_mnist().train;
      std::memcpy(made.images.data(), train.images.data(), made.images.size() * sizeof(float));
      std::memcpy(made.labels.data(), train.labels.data(), made.labels.size());
    }
    return made;
  }();
  return all;
}

/// What stands for training: it reads all of a batch.
constexpr auto use = [](const auto& images, const auto& labels) {
  return tg::sum(images) + tg::sum(tg::cast<float>(labels));
};
constexpr auto x = tg::placeholder<"x", float, batch, pixels>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, batch>();

void count(benchmark::State& state) {
  state.counters["images/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * steps * batch, benchmark::Counter::kIsRate);
}

/// Batches of a dataset are fed.
void fed_from_dataset(benchmark::State& state) {
  const auto used = use(x, y);
  tg::session session(tg::compile([=] { return tg::outputs(used); }));
  const auto batches = tg::datasets::from_slices(data().images, data().labels).global_shuffle(1).batch(batch, true);
  for (auto round : state)
    for (auto& [images, labels] : batches) benchmark::DoNotOptimize(session.run(used, x = images, y = labels));
  count(state);
}

/// The same, made by another thread meanwhile.
void fed_and_prefetched(benchmark::State& state) {
  const auto used = use(x, y);
  tg::session session(tg::compile([=] { return tg::outputs(used); }));
  const auto batches =
      tg::datasets::from_slices(data().images, data().labels).global_shuffle(1).batch(batch, true).prefetch(4);
  for (auto round : state)
    for (auto& [images, labels] : batches) benchmark::DoNotOptimize(session.run(used, x = images, y = labels));
  count(state);
}

/// All images are variables, of which the graph gathers rows.
void preloaded_variable(benchmark::State& state) {
  constexpr auto images = tg::preloaded<"images", float, rows, pixels>();
  constexpr auto labels = tg::preloaded<"labels", std::uint8_t, rows>();
  constexpr auto at = tg::placeholder<"at", std::int64_t, batch>();
  const auto used = use(tg::gather(images, at), tg::gather(labels, at));
  const tg::container container;
  tg::preload(container, images, tg::tensor<float>(data().images));
  tg::preload(container, labels, tg::tensor<std::uint8_t>(data().labels));
  tg::session session(tg::compile([=] { return tg::outputs(used); }), {.state = container});
  const auto order = tg::datasets::range(rows).global_shuffle(1).batch(batch, true);
  for (auto round : state)
    for (const auto& some : order) benchmark::DoNotOptimize(session.run(used, at = some));
  count(state);
}

/// Threads put single images into a queue, of which the graph takes batches.
void queue_runners(benchmark::State& state) {
  constexpr tg::queue_of<"images", tg::queue_options{.capacity = 4 * batch}, tg::spec<float, pixels>,
                         tg::spec<std::uint8_t>>
      images;
  const auto [some, labels] = tg::dequeue_many<batch>(images);
  const auto used = use(some, labels);
  const auto program = tg::compile([=] { return tg::outputs(used); });
  for (auto round : state) {
    const tg::container container;
    tg::session session(program, {.state = container});
    tg::coordinator coord;
    auto producer = tg::slice_input_producer<tg::spec<float, pixels>, tg::spec<std::uint8_t>>(
        {.num_epochs = 1, .seed = 1, .capacity = 4 * batch, .place = {.in = container, .name = "images"}},
        data().images, data().labels);
    producer.start(coord);
    for (int step = 0; step < steps; ++step) benchmark::DoNotOptimize(session.run(used));
    coord.request_stop();
    coord.join();
  }
  count(state);
}

/// An iterator of the graph over a dataset.
void get_next(benchmark::State& state) {
  constexpr tg::iterator_of<"batches", tg::spec<float, batch, pixels>, tg::spec<std::uint8_t, batch>> batches;
  const auto [images, labels] = tg::get_next(batches);
  const auto used = use(images, labels);
  const tg::container container;
  tg::session session(tg::compile([=] { return tg::outputs(used); }), {.state = container});
  const auto source =
      tg::datasets::from_slices(data().images, data().labels).global_shuffle(1).batch(batch, true).prefetch(4);
  for (auto round : state) {
    tg::set_iterator(container, batches, source);
    for (int step = 0; step < steps; ++step) benchmark::DoNotOptimize(session.run(used));
  }
  count(state);
}

/// What the graph alone takes.
void nothing_but_the_graph(benchmark::State& state) {
  const auto used = use(x, y);
  tg::session session(tg::compile([=] { return tg::outputs(used); }));
  const tg::tensor<float> images(tg::shape{batch, pixels});
  const tg::tensor<std::uint8_t> labels(tg::shape{batch});
  for (auto round : state)
    for (int step = 0; step < steps; ++step) benchmark::DoNotOptimize(session.run(used, x = images, y = labels));
  count(state);
}

}  // namespace

BENCHMARK(nothing_but_the_graph)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fed_from_dataset)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fed_and_prefetched)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(preloaded_variable)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(queue_runners)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(get_next)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_MAIN();
