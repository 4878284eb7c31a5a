// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float, 1, 1, 1, 1, 1, 2>> q;
#else
  constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float, 1, 1, 1, 1, 2>> q;
#endif
  const auto program = tg::compile([=] { return tg::outputs(tg::dequeue_many<2>(q)); });
  tg::session session(program);
}
