// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E234
// mentions: queue_of
#include "tagma/input.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"indices", tg::queue_options{}, tg::spec<std::int64_t>> indices;
#ifdef REJECT
constexpr tg::queue_of<"examples", tg::queue_options{}, tg::spec<std::int64_t>> filled;
#else
constexpr auto filled = indices;
#endif

int main() {
  const auto put = tg::enqueue(indices, tg::size_of_queue(indices));
  tg::session session(tg::compile([=] { return tg::outputs(put); }));
  const tg::queue_runner runner(session, filled, put);
}
