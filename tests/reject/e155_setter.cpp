// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E155
// mentions: vector
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<tg::replica_device_setter{.ps_tasks = 1}>(std::vector<int>{1});
#else
[[maybe_unused]] const auto y =
    tg::on<tg::replica_device_setter{.ps_tasks = 1}>([](const auto& e) { return tg::negate(e); })(x);
#endif

int main() {}
