// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E264
// mentions: assign_add
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

constexpr auto block = [](const auto& h) {
  const auto calls = tg::variable<"calls", float>(tg::zeros, tg::not_trainable);
  return tg::after(tg::assign_add(calls, tg::ones_like(calls)))(h * 2.0f);
};

int main() {
#ifdef REJECT
  const auto y = tg::repeat<"block", 4>(block)(x);
#else
  const auto y = tg::repeat<"block", 4>(block, tg::unrolled)(x);
#endif
  static_cast<void>(tg::compile([=] { return tg::outputs(y); }));
}
