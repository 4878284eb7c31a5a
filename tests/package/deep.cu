// SPDX-License-Identifier: BSL-1.0
// Many operations in a row, and many that read what others read as well: nvcc's front end compiles them only if a
// handle does not lead to its operands.
#include <cstdio>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr int depth = 60;

template <int Operations, class E>
auto in_a_row(const E& e) {
  if constexpr (Operations == 0)
    return e;
  else
    return tg::softmax(in_a_row<Operations - 1>(e));
}

template <int Operations, class E>
auto doubled(const E& e) {
  if constexpr (Operations == 0) {
    return e;
  } else {
    const auto before = doubled<Operations - 1>(e);
    return before + before;
  }
}

int main() {
  constexpr auto x = tg::placeholder<"x", float, 2, 4>();
  const auto shares = in_a_row<depth>(x);
  const auto sum = doubled<depth>(x);
  const auto program = tg::compile([=] { return tg::outputs(shares, sum); });
  constexpr std::size_t expected = 1 + 2 * depth;
  std::printf("%zu nodes\n", program.node_count());
  return program.node_count() == expected ? 0 : 1;
}
