// SPDX-License-Identifier: BSL-1.0
// Training steps of a convolutional network: two layers of 5x5 filters with pooling, 1,024 hidden units.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

template <class Optimizer>
static int train(const peers::options& options, const Optimizer& optimizer) {
  constexpr tg::conv_options same{.padding = tg::same_padding};
  const auto conv1 = tg::conv2d<"conv1", 32, 5, same>(x, tg::relu);
  const auto conv2 = tg::conv2d<"conv2", 64, 5, same>(tg::max_pool<2>(conv1), tg::relu);
  const auto hidden = tg::dense<"hidden", 1024>(tg::flatten(tg::max_pool<2>(conv2)), tg::relu);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"logits", 10>(hidden), y));
  const auto step = tg::minimize(loss, optimizer);
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  std::vector<tg::tensor<float>> images;
  std::vector<tg::tensor<std::uint8_t>> labels;
  for (unsigned i = 0; i < peers::batches; ++i) {
    const peers::data d = peers::make_batch(options.batch, i);
    images.emplace_back(tg::shape{options.batch, 28, 28, 1}, d.images);
    labels.emplace_back(tg::shape{options.batch}, d.labels);
  }
  return peers::serve(
      TAGMA_VERSION,
      [&](std::int64_t i) {
        const auto b = static_cast<std::size_t>(i % peers::batches);
        const auto [value, done] = session.run(tg::fetch(loss, step), x = images[b], y = labels[b]);
        return static_cast<double>(value);
      },
      3);
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  return options.adam ? train(options, tg::adam{.learning_rate = peers::adam_rate})
                      : train(options, tg::sgd{.learning_rate = peers::sgd_rate});
}
