// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E267
// mentions: tagma/file_cache.hpp
#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto kept = tg::datasets::range(3).cache("numbers.cache");
#else
const auto kept = tg::datasets::range(3).cache();
#endif

int main() {}
