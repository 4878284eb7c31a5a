// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E264
// mentions: assign_sub
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

constexpr auto block = [](const auto& h) { return tg::batch_norm<"norm">(h, tg::phase::training); };

int main() {
#ifdef REJECT
  const auto y = tg::repeat<"block", 4>(block)(x);
#else
  const auto y = tg::repeat<"block", 4>(block, tg::unrolled)(x);
#endif
  const auto train = tg::minimize(tg::mean(tg::square(y)), tg::sgd{});
  static_cast<void>(tg::compile([=] { return tg::outputs(train); }));
}
