// SPDX-License-Identifier: BSL-1.0
// A component of open extents has as many axes as its type has, whatever the queue pads. [scenario 97]
// expect: TAGMA-E223
// mentions: spec<float, -1>
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"q", tg::queue_options{.kind = tg::queue_kind::padding}, tg::spec<float, tg::dyn>> q;
#ifdef REJECT
constexpr auto x = tg::placeholder<"x", float, tg::dyn, tg::dyn>();
#else
constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
#endif

[[maybe_unused]] const auto put = tg::enqueue(q, x);

int main() {}
