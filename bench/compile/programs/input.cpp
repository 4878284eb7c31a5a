// SPDX-License-Identifier: BSL-1.0
// The trainer of mlp.cpp with its input: batches of a dataset go into a queue, and the graph takes them out. One thread
// does both: <thread> alone is three per cent of mlp.cpp, and would be the program's, as the library does without.
#include <cstdio>

#include "tagma/datasets.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr tg::queue_of<"batches", tg::queue_options{.capacity = 8}, tg::spec<float, 32, 784>,
                         tg::spec<std::uint8_t, 32>>
      batches;
  const auto [x, y] = tg::dequeue(batches);
  const auto hidden1 = tg::dense<"hidden1", 300>(x, tg::relu);
  const auto hidden2 = tg::dense<"hidden2", 100>(hidden1, tg::relu);
  const auto logits = tg::dense<"outputs", 10>(hidden2);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  const tg::container state;
  tg::session session(program, {.seed = 42, .state = state});
  const tg::queue<tg::spec<float, 32, 784>, tg::spec<std::uint8_t, 32>> into(state, "batches", batches.options);
  const auto data = tg::datasets::from_slices(tg::tensor<float>({64, 784}), tg::tensor<std::uint8_t>({64}));
  for (auto& [images, labels] : data.shuffle(64).repeat(3).batch(32)) into.enqueue(images, labels);
  into.close();
  float last = 0;
  for (int step = 0; step < 6; ++step) last = std::get<0>(session.run(tg::fetch(loss, train)));
  std::printf("%g\n", static_cast<double>(last));
}
