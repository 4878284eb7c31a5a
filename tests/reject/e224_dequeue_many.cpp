// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E224
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr tg::queue_options options{};
#else
constexpr tg::queue_options options{.kind = tg::queue_kind::padding};
#endif
constexpr tg::queue_of<"q", options, tg::spec<float, tg::dyn>> q;

[[maybe_unused]] const auto batch = tg::dequeue_many<3>(q);

int main() {}
