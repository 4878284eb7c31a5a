// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/print.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tagma/plan/print.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

/// Its name has what a drawing must quote.
struct odd : tg::op::elementwise {
  static constexpr std::string_view name = "odd \"1\" \\";
};

constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
constexpr auto v = tg::variable<"v", float>(tg::static_initializer<tg::initializer_kind::zeros>{});

/// The name of the node whose label begins so.
std::string node_of(const std::string& dot, const std::string& label) {
  const std::size_t end = dot.rfind(" [shape", dot.find("label=\"" + label + " #"));
  REQUIRE(end != std::string::npos);
  const std::size_t begin = dot.find_last_of(' ', end - 1) + 1;
  return dot.substr(begin, end - begin);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a drawing quotes names and tells apart the kinds of edges and nodes") {
  const auto update = tg::assign(v, tg::sum(x));
  const auto all = tg::group(update);
  const auto slope = tg::gradient(2.0f * tg::sum(tg::exp(x)), x);
  const auto quoted = tg::make_operation<odd, tg::ir::pack_attributes()>(x);
  const auto program = tg::compile([=] { return tg::outputs(all, slope, quoted); });
  const std::string dot = tg::to_dot(program);
  INFO(dot);
  CHECK(contains(dot, "\\nx\\nfloat32 [?]\"]"));
  CHECK(contains(dot, R"(label="odd \"1\" \\ #)"));
  CHECK(contains(dot, "[shape=invhouse, label=\"placeholder #"));
  CHECK(contains(dot, "[shape=cylinder, label=\"variable #"));
  CHECK(contains(dot, "[shape=point, label=\"group #"));
  CHECK(contains(dot, node_of(dot, "assign") + " -> " + node_of(dot, "group") + " [style=dashed];"));
  CHECK(contains(dot, node_of(dot, "variable") + " -> " + node_of(dot, "assign") + ";"));
  CHECK(contains(dot, " -> " + node_of(dot, "broadcast_like") + " [style=dotted];"));
}
