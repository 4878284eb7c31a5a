// SPDX-License-Identifier: BSL-1.0
// A loader process and a trainer process: a queue of a server is between them, from which the trainer takes examples in
// a random order. As an example it starts the server itself, and itself once more as the loader;
// `cluster_queue load tagma://host:port` and `cluster_queue train tagma://host:port` use a server that is there.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tagma/remote_queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

using points = tg::remote_queue<tg::spec<float>, tg::spec<float>>;

// Of the 50 examples that are there at least, each is as likely as the others to be the next one.
constexpr tg::queue_options mixed{.kind = tg::queue_kind::shuffle, .capacity = 200, .min_after_dequeue = 50, .seed = 3};

void load(const std::string& target) {
  const points queue(target, "points", mixed);
  for (int epoch = 0; epoch < 60; ++epoch)
    for (int i = 0; i < 10; ++i) {  // a file of one hundred lines would be as good
      tg::tensor<float> x({10}), y({10});
      for (int k = 0; k < 10; ++k) {
        x[k] = static_cast<float>(10 * i + k) / 100.0f;
        y[k] = 3.0f * x[k] + 1.0f;
      }
      queue.enqueue_many(x, y);  // waits while the queue is full
    }
  queue.close();
}

void train(const std::string& target) {
  constexpr auto x = tg::placeholder<"x", float, 20>();
  constexpr auto y = tg::placeholder<"y", float, 20>();
  const auto slope = tg::variable<"slope", float>(0.0f);
  const auto offset = tg::variable<"offset", float>(0.0f);
  const auto loss = tg::mean(tg::square(x * slope + offset - y));
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 0.5});
  tg::session session(tg::compile([=] { return tg::outputs(step, slope, offset); }));

  const points queue(target, "points", mixed);
  int steps = 0;
  try {
    for (;; ++steps) {
      const auto [xs, ys] = queue.dequeue_many(20);
      session.run(step, x = xs, y = ys);
    }
  } catch (const tg::error& e) {
    if (e.code() != tg::status_code::out_of_range) throw;  // the queue was closed, and is empty
  }
  const auto [a, b] = session.run(tg::fetch(slope, offset));
  std::printf("%d steps of 20 examples\ny = %.1f x + %.1f\n", steps, a, b);
}

int main(int count, char** arguments) {
  try {
    if (count == 3 && std::string(arguments[1]) == "load") return load(arguments[2]), 0;
    if (count == 3) return train(arguments[2]), 0;
    const tg::server server(tg::role(tg::cluster({{"local", {"localhost:27196"}}}), {.job = "local", .task = 0}));
    if (std::system((std::string(arguments[0]) + " load " + server.target() + " &").c_str()) != 0) return 1;
    train(server.target());
  } catch (const tg::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
