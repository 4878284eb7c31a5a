// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E223
// mentions: float, 3
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"q", tg::queue_options{}, tg::spec<float, 3>, tg::spec<std::int64_t>> q;
constexpr auto x = tg::placeholder<"x", float, 3>();
#ifdef REJECT
constexpr auto n = tg::placeholder<"n", float>();
#else
constexpr auto n = tg::placeholder<"n", std::int64_t>();
#endif

[[maybe_unused]] const auto put = tg::enqueue(q, x, n);

int main() {}
