// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E225
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float>> q;
#ifdef REJECT
constexpr tg::extent count = -2;
#else
constexpr tg::extent count = 2;
#endif

[[maybe_unused]] const auto batch = tg::dequeue_up_to<count>(q);

int main() {}
