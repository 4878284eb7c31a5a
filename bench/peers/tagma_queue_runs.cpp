// SPDX-License-Identifier: BSL-1.0
// The same by runs of a session: 1,000 that enqueue, and 1,000 that dequeue.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr tg::queue_of<"q", tg::queue_options{.capacity = 10}, tg::spec<float>, tg::spec<std::int64_t>> q;
  constexpr auto x = tg::placeholder<"x", float>();
  constexpr auto n = tg::placeholder<"n", std::int64_t>();
  const auto put = tg::enqueue(q, x, n);
  const auto [taken, number] = tg::dequeue(q);
  tg::session session(tg::compile([=, t = taken, i = number] { return tg::outputs(put, t, i); }));
  return peers::serve(TAGMA_VERSION, [&](std::int64_t) {
    double sum = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      session.run(put, x = static_cast<float>(i), n = i);
      sum += static_cast<double>(std::get<0>(session.run(tg::fetch(taken, number))));
    }
    return sum;
  });
}
