// SPDX-License-Identifier: BSL-1.0
// What the larger models share: numbered names, and one step of training on made-up data.
#pragma once

#include <tagma/tagma.hpp>

#include <cstdio>

namespace tg = tagma;

/// Base, then a number: `numbered<"block", 12>` is "block12".
template <int I>
constexpr auto digits() {
  constexpr std::size_t n = I < 10 ? 1 : I < 100 ? 2 : 3;
  tg::fixed_string<n + 1> s;
  int v = I;
  for (std::size_t k = n; k-- > 0; v /= 10) s.text[k] = static_cast<char>('0' + v % 10);
  return s;
}
template <tg::fixed_string Base, int I>
inline constexpr auto numbered = Base / digits<I>();

/// A few steps with the given feeds.
template <class Session, class Loss, class Train, class... Feed>
void train_a_little(Session& session, const Loss& loss, const Train& train, const Feed&... feed) {
  for (int i = 0; i < 3; ++i) {
    auto [l, done] = session.run(tg::fetch(loss, train), feed...);
    std::printf("step %d loss %g\n", i, static_cast<double>(l));
  }
}
