// SPDX-License-Identifier: BSL-1.0
// Four ways for a data set into a graph: batches that are fed, a variable of which the graph gathers rows, a queue that
// threads fill, and a dataset behind an iterator. One classifier learns Fashion-MNIST each way, for an epoch.
// run: {fashion_mnist}
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <tagma/containers.hpp>
#include <tagma/data.hpp>
#include <tagma/input.hpp>
#include <tagma/iterators.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

namespace {

constexpr tg::extent rows = 60'000, batch = 128, steps = rows / batch;
constexpr std::uint64_t seed = 1;  // of the order of images

/// The classifier: a score for each image and class. Its variables have names: programs over one container share them.
constexpr auto classify = [](const auto& images) {
  return tg::dense<"logits", 10>(tg::dense<"hidden", 64>(tg::flatten(images), tg::relu));
};
/// A step of its training, wherever images and labels come from.
constexpr auto learn = [](const auto& images, const auto& labels) {
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(classify(images), labels));
  return tg::minimize(loss, tg::adam{.learning_rate = 2e-3});
};

/// What a classifier makes of the test images.
struct outcome {
  float loss, accuracy;
  bool operator==(const outcome&) const = default;
};

/// Takes the variables of a container in which a classifier was trained: one program, whichever trained it.
outcome test(const tg::container& state, const tg::fashion_mnist_data& data) {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
  const auto scores = classify(x);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(scores, y));
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(scores), y)));
  tg::session session(tg::compile([=] { return tg::outputs(loss, accuracy); }), {.state = state});
  const auto [l, a] = session.run(tg::fetch(loss, accuracy), x = data.test.images, y = data.test.labels);
  return {l, a};
}

/// Runs an epoch, whose time counts, and prints a line of the table.
template <class Epoch>
outcome report(const char* way, const tg::container& state, const tg::fashion_mnist_data& data, const Epoch& epoch) {
  const auto begin = std::chrono::steady_clock::now();
  epoch();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const outcome found = test(state, data);
  std::printf("%-20s %10.0f %10.4f\n", way, static_cast<double>(steps * batch) / took.count(),
              static_cast<double>(found.accuracy));
  return found;
}

/// 1. C++ has the batches and feeds them: it sees each of them, and may change it. A thread copies two ahead.
outcome train_from_feeds(const tg::fashion_mnist_data& data) {
  constexpr auto x = tg::placeholder<"x", float, batch, 28, 28, 1>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, batch>();
  const auto train = learn(x, y);

  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(train); }), {.seed = 42, .state = state});
  return report("fed batches", state, data, [&] {
    for (const auto& [images, labels] : data.train.shuffle(rows, seed).batch(batch, true).prefetch(2))
      session.run(train, x = images, y = labels);
  });
}

/// 2. All images are a variable, which no optimizer touches, and the graph gathers a batch of them. Only numbers of
/// rows are fed. For data that fit into the memory of a device: they are copied there once.
outcome train_from_variable(const tg::fashion_mnist_data& data) {
  constexpr auto images = tg::preloaded<"images", float, rows, 28, 28, 1>();
  constexpr auto labels = tg::preloaded<"labels", std::uint8_t, rows>();
  constexpr auto at = tg::placeholder<"at", std::int64_t, batch>();
  const auto train = learn(tg::gather(images, at), tg::gather(labels, at));

  const tg::container state;  // which takes the memory of a tensor that is moved; the other ways need these, too
  tg::preload(state, images, data.train.images);
  tg::preload(state, labels, data.train.labels);
  tg::session session(tg::compile([=] { return tg::outputs(train); }), {.seed = 42, .state = state});
  return report("preloaded variable", state, data, [&] {
    for (const auto& numbers : tg::datasets::range(rows).shuffle(rows, seed).batch(batch, true))
      session.run(train, at = numbers);
  });
}

/// 3. A thread puts single images into a queue, of which a step takes as many as it needs. For data of several sources:
/// whoever has the container, or its server, may add to the queue.
outcome train_from_queue(const tg::fashion_mnist_data& data) {
  using image = tg::spec<float, 28, 28, 1>;
  using label = tg::spec<std::uint8_t>;
  constexpr tg::queue_of<"examples", tg::queue_options{.capacity = 4 * batch}, image, label> examples;
  const auto [images, labels] = tg::dequeue_many<batch>(examples);
  const auto train = learn(images, labels);

  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(train); }), {.seed = 42, .state = state});
  auto producer = tg::slice_input_producer<image, label>({.num_epochs = 1,
                                                          .seed = seed,
                                                          .capacity = examples.options.capacity,
                                                          .place = {.in = state, .name = examples.name}},
                                                         data.train.images, data.train.labels);
  tg::coordinator coord;
  return report("queue runner", state, data, [&] {
    producer.start(coord);
    coord.stop_on_exception([&] {  // of which OutOfRange, behind the last whole batch, is the end of the data
      for (;;) session.run(train);
    });
    coord.join();
  });
}

/// 4. The graph has an iterator, to which C++ gives a dataset: any pipeline of files, functions and threads, and the
/// next one while sessions go on. Behind the last batch a run throws OutOfRange.
outcome train_from_iterator(const tg::fashion_mnist_data& data) {
  constexpr tg::iterator_of<"batches", tg::spec<float, batch, 28, 28, 1>, tg::spec<std::uint8_t, batch>> batches;
  const auto [images, labels] = tg::get_next(batches);
  const auto train = learn(images, labels);

  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(train); }), {.seed = 42, .state = state});
  const auto all = tg::datasets::from_slices(data.train.images, data.train.labels)
                       .shuffle(rows, seed)
                       .batch(batch, true)
                       .prefetch(2);
  return report("dataset and iterator", state, data, [&] {
    tg::set_iterator(state, batches, all);
    for (int step = 0; step < steps; ++step) session.run(train);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto data = argc > 1 ? tg::fashion_mnist(argv[1]) : tg::fashion_mnist();
  std::printf("%-20s %10s %10s\n", "", "images/s", "accuracy");
  const outcome ways[] = {train_from_feeds(data), train_from_variable(data), train_from_queue(data),
                          train_from_iterator(data)};
  // One seed is one order of the images, whoever shuffles them, and one start of the variables.
  const bool same = ways[0] == ways[1] && ways[0] == ways[2] && ways[0] == ways[3];
  std::printf("the same classifier each time: %s\n", same ? "yes" : "no");
}
