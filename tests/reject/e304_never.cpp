// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E304
// mentions: accumulate
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

template <int Sets>
struct own {
  tg::rate learning_rate = 0.1;
  static constexpr tg::fixed_string name = "own";
  static constexpr tg::optimizer_slots<0> slots{};
  static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    for (int i = 0; i < Sets; ++i) u.set_value(u.value() - u.learning_rate() * u.gradient());
  }
};

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::accumulate(loss, own<0>{}));
#else
  static_cast<void>(tg::accumulate(loss, own<1>{}));
#endif
}
