// SPDX-License-Identifier: BSL-1.0
// Takes so many tuples of a float and an integer, as the batch is said to be, from a queue of a server, which is filled
// before the clock runs.
#include <numeric>
#include <vector>

#include "client.hpp"
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/remote_queues.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const tg::remote_queue<tg::spec<float>, tg::spec<std::int64_t>> q(peers::target(), "tuples", {.capacity = 4'000'000},
                                                                    peers::session_options());
  const auto fill = [&](std::int64_t steps) {
    const tg::extent rows = steps * options.batch;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(rows));
    std::iota(numbers.begin(), numbers.end(), 0);
    q.enqueue_many(tg::tensor<float>({rows}, std::vector<float>(numbers.begin(), numbers.end())),
                   tg::tensor<std::int64_t>({rows}, numbers));
  };
  const auto take = [&](std::int64_t, std::int64_t steps) {
    double sum = 0;
    for (std::int64_t i = 0; i < steps; ++i) sum += static_cast<double>(q.dequeue_many(options.batch).get<0>()[0]);
    return sum;
  };
  return peers::serve_bursts(TAGMA_VERSION, take, 20, fill);
}
