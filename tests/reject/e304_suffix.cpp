// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E304
// mentions: minimize
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

template <int Slot>
struct own {
  tg::rate learning_rate = 0.1;
  static constexpr tg::fixed_string name = "own";
  static constexpr tg::optimizer_slots<2> slots{tg::optimizer_slot{"/own_m"}, tg::optimizer_slot{Slot == 0 ? "/own_v" : "/own_m"}};
  static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    u.set_slot(0, u.slot(1) + u.gradient());
    u.set_value(u.value() - u.learning_rate() * u.slot(0));
  }
};

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::minimize(loss, own<1>{}));
#else
  static_cast<void>(tg::minimize(loss, own<0>{}));
#endif
}
