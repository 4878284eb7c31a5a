// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E144
// mentions: explain
#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto e = tg::exp(x);

#ifdef REJECT
[[maybe_unused]] const auto y = tg::explain(tg::compile([] { return tg::outputs(e); }), tg::outputs(x));
#else
[[maybe_unused]] const auto y = tg::explain(tg::compile([] { return tg::outputs(e); }), tg::outputs(e));
#endif

int main() {}
