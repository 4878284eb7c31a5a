// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E154
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<[](int node) { return node == 0 ? "/cpu:0" : "/cpu:1"; }>(x);
#else
[[maybe_unused]] const auto y = tg::on<[](tg::op_info node) { return node.is_variable ? "/cpu:0" : "/cpu:1"; }>(x);
#endif

int main() {}
