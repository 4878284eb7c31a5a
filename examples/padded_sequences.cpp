// SPDX-License-Identifier: BSL-1.0
// Sequences of several lengths on their way into a recurrent network: a padding queue fills each batch up to its
// longest sequence, and the loop of the network is as long as the batch.
#include <algorithm>
#include <cstdio>

#include "tagma/base/random.hpp"
#include "tagma/input.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr tg::extent batch = 32;

/// Where the steps are +1 or -1, with a 1 beside each that tells it from padding; the class is where they lead.
struct walk {
  tg::tensor<float> steps;
  std::int64_t ends_above;
};
walk make_walk(std::uint32_t i) {
  const tg::philox_block bits = tg::philox(i, 0, {{0, 0, 0, 0}});
  const tg::extent length = 3 + 2 * static_cast<tg::extent>(bits[0] % 5);
  walk w{tg::tensor<float>({length, 2}), 0};
  int place = 0;
  for (tg::extent t = 0; t < length; ++t) {
    const int step = (bits[1] >> t & 1U) != 0 ? 1 : -1;
    place += step;
    w.steps(t, 0) = static_cast<float>(step);
    w.steps(t, 1) = 1;
  }
  w.ends_above = place > 0 ? 1 : 0;
  return w;
}

constexpr auto x = tg::placeholder<"x", float, batch, tg::dyn, 2>();
constexpr auto y = tg::placeholder<"y", std::int64_t, batch>();

}  // namespace

int main() {
  const auto logits = tg::dense<"above", 2>(tg::gru<"gru", 16>(x));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto right = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  tg::session session(tg::compile([=] { return tg::outputs(right, train); }), {.seed = 3});

  tg::coordinator coord;
  const tg::queue<tg::spec<float, tg::dyn, 2>, tg::spec<std::int64_t>> walks(
      {.kind = tg::queue_kind::padding, .capacity = 4 * batch});
  std::uint32_t made = 0;
  tg::queue_runner runner(walks, [&](const tg::run_limits& limits) {
    if (made == 300 * batch) tg::fail(tg::status_code::out_of_range, "all walks were made");
    const walk w = make_walk(made++);
    walks.enqueue(w.steps, w.ends_above, limits);
  });
  runner.start(coord);

  int batches = 0;
  tg::extent longest = 0;
  float last = 0;
  coord.stop_on_exception([&] {
    for (;; ++batches) {
      const auto [steps, ends] = walks.dequeue_many(batch);
      longest = std::max(longest, steps.dims()[1]);
      last = std::get<0>(session.run(tg::fetch(right, train), x = steps, y = ends));
    }
  });
  coord.join();
  std::printf("%d batches of %d walks, padded to at most %d steps; of the last %s\n", batches, static_cast<int>(batch),
              static_cast<int>(longest), last > 0.9f ? "nearly all were told right" : "too many were told wrong");
}
