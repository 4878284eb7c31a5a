// SPDX-License-Identifier: BSL-1.0
// A loader and a trainer: two sessions with a queue between them. A producer counts through the data a number of times,
// a queue runner runs the loader until it is over, and a coordinator learns what goes wrong.
#include <cstdio>

#include "tagma/input.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr tg::queue_of<"indices", tg::queue_options{.capacity = 32}, tg::spec<std::int64_t>> indices;
  constexpr tg::queue_of<"examples", tg::queue_options{.capacity = 64}, tg::spec<float>, tg::spec<float>> examples;

  // The loader makes an example of each index: a point of the line y = 3 x + 1.
  const auto point = 0.01f * tg::cast<float>(tg::dequeue(indices));
  const auto put = tg::enqueue(examples, point, 3.0f * point + 1.0f);
  const auto loading = tg::compile([=] { return tg::outputs(put); });

  const auto [x, y] = tg::dequeue_many<20>(examples);
  const auto slope = tg::variable<"slope", float>(0.0f);
  const auto offset = tg::variable<"offset", float>(0.0f);
  const auto loss = tg::mean(tg::square(x * slope + offset - y));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.5});
  const auto training = tg::compile([=] { return tg::outputs(loss, train, slope, offset); });

  const tg::container state;
  tg::session loader(loading, {.state = state});
  tg::session trainer(training, {.state = state});

  tg::coordinator coord;
  auto numbers = tg::range_input_producer(
      100, {.num_epochs = 60, .seed = 1, .capacity = 32, .place = {.in = state, .name = "indices"}});
  tg::queue_runner runner(loader, examples, put);
  numbers.start(coord);
  runner.start(coord);

  int steps = 0;
  coord.stop_on_exception([&] {
    for (;; ++steps) static_cast<void>(trainer.run(tg::fetch(loss, train)));
  });
  const bool asked = coord.should_stop();  // by OutOfRange, which is the end of the data
  coord.join();                            // throws any other error, of whichever thread
  const auto [a, b] = trainer.run(tg::fetch(slope, offset));
  std::printf("%d steps of 20 examples\ny = %.2f x + %.2f\n", steps, a, b);
  return asked ? 0 : 1;
}
