// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E204
// mentions: loop_element
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

int main() {
  const auto head = tg::make_operation<tg::ir::loop_head, tg::ir::pack_attributes(tg::dyn, 0), struct head_place>(x);
  const auto element = tg::make_operation<tg::ir::loop_element, tg::ir::attributes<0>{}, struct place>(head, x);
#ifdef REJECT
  static_cast<void>(tg::compile([=] { return tg::outputs(element); }));
#else
  static_cast<void>(element);
  static_cast<void>(tg::compile([=] { return tg::outputs(x); }));
#endif
}
