// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E226
// mentions: char
#include <string>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
using names = tg::dataset<const char*>;
#else
using names = tg::dataset<std::string>;
#endif

names copy(const names& data) { return names(data); }

int main() {}
