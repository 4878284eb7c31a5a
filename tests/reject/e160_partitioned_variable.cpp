// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: big table
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr auto v = tg::partitioned_variable<"big table", tg::fixed_size_partitioner{3}, float, 9, 2>(tg::zeros);
#else
constexpr auto v = tg::partitioned_variable<"big_table", tg::fixed_size_partitioner{3}, float, 9, 2>(tg::zeros);
#endif

int main() {}
