// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E148
// mentions: /job:worker/device:CPU:1
// mentions: there_are<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  const auto y = tg::on<"/job:worker/cpu:1">(tg::negate(x));
#else
  const auto y = tg::on<"/cpu:1">(tg::negate(x));
#endif
  tg::session session(tg::compile([=] { return tg::outputs(y); }), {.cpu_devices = 2});
  session.run(y, x = tg::tensor<float>());
}
