// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E220
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr tg::queue_of<"q", tg::queue_options{}> q;
#else
constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float>> q;
#endif
static_assert(q.name == "q");

int main() {}
