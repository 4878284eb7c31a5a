// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E222
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr tg::queue_options options{.kind = tg::queue_kind::shuffle, .capacity = 5, .min_after_dequeue = 5};
#else
constexpr tg::queue_options options{.kind = tg::queue_kind::shuffle, .capacity = 5, .min_after_dequeue = 4};
#endif
constexpr tg::queue_of<"q", options, tg::spec<float>> q;
static_assert(q.name == "q");

int main() {}
