// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E205
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

template <int Count>
auto repeated(const auto& e) {
  if constexpr (Count == 0)
    return e;
  else
    return std::get<0>(
        tg::scan<2>(tg::carry(repeated<Count - 1>(e)), tg::over(), [](auto c) { return tg::next(c + c); }));
}

#ifdef REJECT
constexpr int loops = 65;
#else
constexpr int loops = 64;
#endif

int main() {
  const auto y = repeated<loops>(h);
  static_cast<void>(tg::compile([=] { return tg::outputs(y); }));
}
