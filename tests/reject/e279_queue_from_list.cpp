// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E279
#include "tagma/queue_lists.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::queue_of<"a", tg::queue_options{}, tg::spec<float>> a;
#ifdef REJECT
constexpr tg::queue_of<"b", tg::queue_options{}, tg::spec<float, 2>> b;
#else
constexpr tg::queue_of<"b", tg::queue_options{}, tg::spec<float>> b;
#endif
constexpr auto which = tg::placeholder<"which", std::int64_t>();

[[maybe_unused]] const auto q = tg::queue_from_list(which, a, b);

int main() {}
