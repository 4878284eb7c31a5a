// SPDX-License-Identifier: BSL-1.0
// Training steps of a recurrent network: 32 steps of 128 features, 128 units of long short-term memory, 10 classes.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 128>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

template <class Optimizer>
static int train(const peers::options& options, const Optimizer& optimizer) {
  const auto last = tg::lstm<"lstm", 128>(x);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"logits", 10>(last), y));
  const auto step = tg::minimize(loss, optimizer);
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  std::vector<tg::tensor<float>> sequences;
  std::vector<tg::tensor<std::uint8_t>> labels;
  for (unsigned i = 0; i < peers::batches; ++i) {
    std::mt19937 bits(i);
    std::vector<float> values(static_cast<std::size_t>(options.batch) * 32 * 128);
    for (float& v : values) v = static_cast<float>(bits() % 256) / 255;
    sequences.emplace_back(tg::shape{options.batch, 32, 128}, values);
    labels.emplace_back(tg::shape{options.batch}, peers::make_batch(options.batch, i).labels);
  }
  return peers::serve(
      TAGMA_VERSION,
      [&](std::int64_t i) {
        const auto b = static_cast<std::size_t>(i % peers::batches);
        const auto [value, done] = session.run(tg::fetch(loss, step), x = sequences[b], y = labels[b]);
        return static_cast<double>(value);
      },
      10);
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  return options.adam ? train(options, tg::adam{.learning_rate = peers::adam_rate})
                      : train(options, tg::sgd{.learning_rate = peers::sgd_rate});
}
