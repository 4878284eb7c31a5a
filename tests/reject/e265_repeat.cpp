// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E265
// mentions: queue
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

constexpr auto block = [](const auto& h) {
  constexpr tg::queue_of<"seen", tg::queue_options{.capacity = 4}, tg::spec<float, 3>> seen;
  return tg::after(tg::enqueue(seen, h))(h * 2.0f);
};

int main() {
#ifdef REJECT
  const auto y = tg::repeat<"block", 4>(block)(x);
#else
  const auto y = tg::repeat<"block", 4>(block, tg::unrolled)(x);
#endif
  static_cast<void>(tg::compile([=] { return tg::outputs(y); }));
}
