// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E146
// mentions: /foo:bar
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
#ifdef REJECT
constexpr auto place = [](tg::op_info op) { return op.is_placeholder ? "/cpu:0" : "/foo:bar"; };
#else
constexpr auto place = [](tg::op_info op) { return op.is_placeholder ? "/cpu:0" : "/job:localhost"; };
#endif

int main() {
  const auto y = tg::on<place>(tg::negate(x));
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  session.run(y, x = tg::tensor<float>());
}
