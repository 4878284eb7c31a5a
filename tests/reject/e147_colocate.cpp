// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E147
// mentions: /device:GPU:0
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
  const auto v = tg::on<tg::cpu<0>>(tg::variable<"v", float, 3>(tg::zeros));
#ifdef REJECT
  const auto y = tg::colocate_with(v)(tg::on<tg::gpu<0>>(tg::negate(x)));
#else
  const auto y = tg::colocate_with(v)(tg::on<tg::cpu<0>>(tg::negate(x)));
#endif
  tg::session session(tg::compile([=] { return tg::outputs(y + v); }));
  session.run(y + v, x = tg::tensor<float>());
}
