// SPDX-License-Identifier: BSL-1.0
// The same training steps with tiny-dnn. One thread (CNN_SINGLE_THREAD), AVX (CNN_USE_AVX).
#include <tiny_dnn/tiny_dnn.h>

#include "protocol.hpp"

namespace td = tiny_dnn;

template <class Optimizer>
int train(const peers::options& options, Optimizer optimizer) {
  td::network<td::sequential> net;
  net << td::fully_connected_layer<td::activation::relu>(784, 300)
      << td::fully_connected_layer<td::activation::relu>(300, 100)
      << td::fully_connected_layer<td::activation::softmax>(100, 10);
  std::vector<std::vector<td::vec_t>> images(peers::batches);
  std::vector<std::vector<td::label_t>> labels(peers::batches);
  for (unsigned b = 0; b < peers::batches; ++b) {
    const peers::data d = peers::make_batch(options.batch, b);
    for (int r = 0; r < options.batch; ++r) {
      images[b].emplace_back(d.images.begin() + r * 784, d.images.begin() + (r + 1) * 784);
      labels[b].push_back(d.labels[static_cast<std::size_t>(r)]);
    }
  }
  // The library trains epochs; one of a single batch is one step. The loss is not asked for: it costs a pass of its
  // own.
  return peers::serve(
      "1.0.0a3",
      [&](std::int64_t i) {
        const auto b = static_cast<std::size_t>(i % peers::batches);
        net.train<td::cross_entropy_multiclass>(
            optimizer, images[b], labels[b], static_cast<std::size_t>(options.batch), 1, [] {}, [] {}, i == 0, 1);
        return 0.0;
      },
      3);
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  if (options.threads != 1) return std::fprintf(stderr, "tiny-dnn is built for one thread\n"), 2;
  if (options.adam) {
    td::adam optimizer;
    optimizer.alpha = static_cast<td::float_t>(peers::adam_rate);
    return train(options, optimizer);
  }
  td::gradient_descent optimizer;
  optimizer.alpha = static_cast<td::float_t>(peers::sgd_rate);
  return train(options, optimizer);
}
