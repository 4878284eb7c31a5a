// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E182
// mentions: counter
#include "tagma/tagma.hpp"

namespace tg = tagma;

struct counter : tg::op::resource {
  static constexpr std::string_view name = "counter";
};
#ifndef REJECT
template <>
struct tagma::runtime::resource_of<tagma::ir::key<counter>> {
  static counted<resource> make(const resource_request&) { return {}; }
  static void check(const resource&, const resource_request&) {}
};
#endif

int main() {
  const auto ids = tg::make_resource<counter, "ids">();
  const tg::session session(tg::compile([=] { return tg::outputs(ids); }));
}
