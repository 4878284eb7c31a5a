// SPDX-License-Identifier: BSL-1.0
#include "tagma/ir/graph.hpp"

#include <catch2/catch.hpp>

#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/state.hpp"

namespace {

using namespace tagma;

struct found {
  int nodes = 0;
  bool merged = false, unique = false, folded = false, overflow = false, kept_signed_zero = false;
};

constexpr ir::node_id variable_of(ir::graph& g, std::string_view name, const shape& dims) {
  const auto attributes = ir::pack_attributes(0, 1, 0);
  return g.emit_as(ir::rules<op::variable>, {dtype::float32, dims}, {}, attributes.list(), {{}, name, {}, -1, {}});
}

constexpr ir::node_id emit(ir::graph& g, const ir::op_rules& op, ir::node_id a, ir::node_id b) {
  const ir::node_id in[] = {a, b};
  return g.emit(op, {in, 2});
}

constexpr found explore() {
  found f;
  ir::graph_storage<8> storage;
  ir::graph g = storage.view();
  const auto v = variable_of(g, "v", {3}), w = variable_of(g, "w", {3});
  f.merged = variable_of(g, "v", {3}) == v && emit(g, ir::rules<op::add>, v, w) == emit(g, ir::rules<op::add>, v, w) &&
             emit(g, ir::rules<op::add>, w, v) != emit(g, ir::rules<op::add>, v, w);
  const int before = g.size();
  f.unique = emit(g, ir::rules<op::assign>, v, w) != emit(g, ir::rules<op::assign>, v, w) && g.size() == before + 2;
  f.nodes = g.size();

  const auto zero = ir::emit_constant(g, dtype::float32, 0);
  const auto both = emit(g, ir::rules<op::add>, v, w);
  // Not a variable: who reads the node behind an update reads what the variable was before.
  f.folded = emit(g, ir::rules<op::add>, both, zero) == both && emit(g, ir::rules<op::subtract>, both, zero) == both &&
             emit(g, ir::rules<op::add>, v, zero) != v;
  f.kept_signed_zero =
      ir::constant_of(g, zero).known && ir::constant_of(g, zero).value == 0 && !ir::constant_of(g, v).known;
  (void)ir::emit_constant(g, dtype::float32, 2);
  (void)ir::emit_constant(g, dtype::float32, 3);
  f.overflow = g.overflow();
  return f;
}

static_assert(explore().nodes == 6);
static_assert(explore().merged && explore().unique && explore().folded && explore().overflow &&
              explore().kept_signed_zero);

TEST_CASE("equal nodes are one, updates are not, constants fold, and a full graph says so") {
  const found f = explore();
  CHECK(f.nodes == 6);
  CHECK(f.merged);
  CHECK(f.unique);
  CHECK(f.folded);
  CHECK(f.overflow);
}

constexpr double folded_value() {
  ir::graph_storage<16> storage;
  ir::graph g = storage.view();
  const auto c = [&g](double value) { return ir::emit_constant(g, dtype::float64, value); };
  const auto sum = emit(g, ir::rules<op::add>, c(2), c(3));
  const auto product = emit(g, ir::rules<op::multiply>, sum, c(4));
  const auto difference = emit(g, ir::rules<op::subtract>, product, c(1));
  return ir::constant_of(g, emit(g, ir::rules<op::divide>, difference, c(2))).value;
}
static_assert(folded_value() == 9.5);

TEST_CASE("arithmetic of constants is done by the compiler") { CHECK(folded_value() == 9.5); }

TEST_CASE("a node of operands that do not fit is refused with the sentence of its operation") {
  ir::graph_storage<8> storage;
  ir::graph g = storage.view();
  const auto v = variable_of(g, "v", {3}), w = variable_of(g, "w", {4});
  const char* sentence = nullptr;
  try {
    emit(g, ir::rules<op::add>, v, w);
  } catch (const char* problem) {
    sentence = problem;
  }
  REQUIRE(sentence != nullptr);
  CHECK(std::string_view(sentence) == "shapes do not broadcast");
}

}  // namespace
