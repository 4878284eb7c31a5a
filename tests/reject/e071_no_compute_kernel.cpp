// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E071
// mentions: nothing
#include "tagma/tagma.hpp"

namespace tg = tagma;

struct nothing : tg::op::row_operation {
  static constexpr std::string_view name = "nothing";
};
constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
  const auto y = tg::make_operation<nothing>(x);
  const auto z = tg::negate(x);
  tg::session session(tg::compile([=] { return tg::outputs(y, z); }));
#ifdef REJECT
  session.run(y, x = tg::tensor<float>());
#else
  session.run(z, x = tg::tensor<float>());
#endif
}
