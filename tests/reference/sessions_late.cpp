// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/sessions.md: programs that the process compiles.
#include <catch2/catch.hpp>

#include <tagma/late.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

TEST_CASE("reference: late programs") {
  // example: late, late_option, late_program
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  auto y = tg::sum(tg::square(x));
  auto program = tg::compile([=] { return tg::outputs(y); }, tg::late);  // the graph is planned when the process begins
  tg::session session(program);
  float value = session.run(y, x = std::vector<float>{3, 4});  // 25
  // end
  CHECK(value == 25.0f);
}
