// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E102
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/placeholder.hpp"

#include <utility>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

template <int... I>
constexpr auto join(std::integer_sequence<int, I...>) {
  return tg::concat<0>((static_cast<void>(I), x)...);
}

#ifdef REJECT
[[maybe_unused]] const auto y = join(std::make_integer_sequence<int, 65>{});
#else
[[maybe_unused]] const auto y = join(std::make_integer_sequence<int, 64>{});
#endif

int main() {}
