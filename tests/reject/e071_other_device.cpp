// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E071
// mentions: negate
// mentions: /device:GPU:0
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  const auto y = tg::on<"/gpu:0">(tg::negate(x));
#else
  const auto y = tg::on<"/cpu:0">(tg::negate(x));
#endif
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  session.run(y, x = tg::tensor<float>());
}
