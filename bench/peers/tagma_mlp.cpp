// SPDX-License-Identifier: BSL-1.0
// Training steps of a multi-layer perceptron, 784-300-100-10.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

template <class Optimizer>
static int train(const peers::options& options, const Optimizer& optimizer) {
  const auto hidden1 = tg::dense<"hidden1", 300>(x, tg::relu);
  const auto hidden2 = tg::dense<"hidden2", 100>(hidden1, tg::relu);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"logits", 10>(hidden2), y));
  const auto step = tg::minimize(loss, optimizer);
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  std::vector<tg::tensor<float>> images;
  std::vector<tg::tensor<std::uint8_t>> labels;
  for (unsigned i = 0; i < peers::batches; ++i) {
    const peers::data d = peers::make_batch(options.batch, i);
    images.emplace_back(tg::shape{options.batch, 784}, d.images);
    labels.emplace_back(tg::shape{options.batch}, d.labels);
  }
  return peers::serve(TAGMA_VERSION, [&](std::int64_t i) {
    const auto b = static_cast<std::size_t>(i % peers::batches);
    const auto [value, done] = session.run(tg::fetch(loss, step), x = images[b], y = labels[b]);
    return static_cast<double>(value);
  });
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  return options.adam ? train(options, tg::adam{.learning_rate = peers::adam_rate})
                      : train(options, tg::sgd{.learning_rate = peers::sgd_rate});
}
