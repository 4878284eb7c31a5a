// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E223
// mentions: float, 3
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float, 3>> q;
#ifdef REJECT
constexpr auto x = tg::placeholder<"x", float, 3>();
#else
constexpr auto x = tg::placeholder<"x", float, 5, 3>();
#endif

[[maybe_unused]] const auto put = tg::enqueue_many(q, x);

int main() {}
