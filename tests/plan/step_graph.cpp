// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/step_graph.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;
using tg::plan::plan_view;
using tg::plan::step_graph;
using tg::plan::storage_kind;

constexpr auto x = tg::placeholder<"x", float, 16, 16>();
constexpr auto v = tg::variable<"v", float, 16, 16>(tg::zeros);

template <class Closure>
const plan_view& plan_of(const Closure&) {
  return tg::program<Closure>::full_plan::view;
}

std::size_t step_of(const plan_view& plan, std::string_view op, int which = 0) {
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (plan.nodes[plan.steps[s].node].op->name == op && which-- == 0) return s;
  FAIL("there is no such step");
  return 0;
}

/// What a step reads and writes: blocks as they are, variables behind them.
struct use {
  std::size_t cell;
  bool writes;
};
std::vector<use> uses(const plan_view& plan, std::size_t s) {
  std::vector<use> all;
  const auto add = [&](tg::ir::node_id id, bool writes) {
    const tg::plan::plan_node& n = plan.nodes[id];
    if (n.storage == storage_kind::arena) all.push_back({static_cast<std::size_t>(n.slot), writes});
    if (n.storage == storage_kind::variable)
      all.push_back({plan.blocks.size() + static_cast<std::size_t>(n.slot), writes});
  };
  for (int k = 0; k < plan.steps[s].operands; ++k) add(plan.operands[plan.steps[s].first_operand + k], false);
  add(plan.steps[s].node, true);
  return all;
}

/// What makes every order that keeps the edges give the same bytes.
void check_order(const plan_view& plan) {
  const step_graph graph(plan);
  REQUIRE(graph.size() == plan.steps.size());
  std::vector<std::int32_t> listed(graph.size());
  for (std::size_t s = 0; s < graph.size(); ++s)
    for (std::int32_t e = graph.first_edge(s); e != 0; e = graph[e].next) {
      const auto t = graph[e].after;
      CHECK(static_cast<std::size_t>(t) > s);
      CHECK(graph.ordered(s, static_cast<std::size_t>(t)));
      ++listed[static_cast<std::size_t>(t)];
    }
  for (std::size_t s = 0; s < graph.size(); ++s) CHECK(graph.waits(s) == listed[s]);
  for (std::size_t s = 0; s < graph.size(); ++s)
    for (std::size_t t = s + 1; t < graph.size(); ++t)
      for (const use& a : uses(plan, s))
        for (const use& b : uses(plan, t))
          if (a.cell == b.cell && (a.writes || b.writes)) CHECK(graph.ordered(s, t));

  std::vector<std::int64_t> bytes(plan.blocks.size()), offsets(plan.blocks.size());
  std::int64_t total = 0;
  for (std::size_t b = 0; b < bytes.size(); ++b) total += bytes[b] = 64 * static_cast<std::int64_t>(1 + b % 3);
  const std::int64_t arena = graph.place_blocks(bytes, offsets);
  CHECK(arena <= total);
  // As many equal blocks as are needed at once are counted by small ones; of large ones there is room for one.
  std::vector<std::int64_t> equal(bytes.size(), 64), unused(bytes.size());
  const std::int64_t at_once = graph.place_blocks(equal, unused) / 64;
  equal.assign(bytes.size(), tg::max_bytes);
  CHECK(graph.place_blocks(equal, unused) == (at_once > 1 ? tg::too_many : at_once * tg::max_bytes));
  for (std::size_t a = 0; a < bytes.size(); ++a)
    for (std::size_t b = a + 1; b < bytes.size(); ++b) {
      if (offsets[a] + bytes[a] <= offsets[b] || offsets[b] + bytes[b] <= offsets[a]) continue;
      // They lie over each other: whoever uses the first is done before the second is written.
      CHECK(plan.blocks[a].last < static_cast<std::int32_t>(graph.size()));
      for (std::size_t s = 0; s < graph.size(); ++s)
        for (const use& u : uses(plan, s))
          if (u.cell == a) CHECK(graph.ordered(s, static_cast<std::size_t>(plan.blocks[b].first)));
    }
}

TEST_CASE("steps that share nothing are not ordered, steps that follow from one another are") {
  const auto program = [] { return tg::outputs(tg::matmul(tg::matmul(x, v), tg::matmul(v, x))); };
  const plan_view& plan = plan_of(program);
  const step_graph graph(plan);
  REQUIRE(graph.size() == 3);
  CHECK_FALSE(graph.ordered(0, 1));
  CHECK_FALSE(graph.ordered(1, 0));
  CHECK(graph.ordered(0, 2));
  CHECK(graph.ordered(1, 2));
  check_order(plan);
}

TEST_CASE("control dependencies order steps, also through groups and views") {
  const auto program = [] {
    const auto first = tg::softmax(x);
    const auto shaped = tg::after(tg::group(tg::reshape<256>(first)))(tg::matmul(v, v));
    return tg::outputs(first, shaped);
  };
  const plan_view& plan = plan_of(program);
  const step_graph graph(plan);
  CHECK(graph.ordered(step_of(plan, "softmax"), step_of(plan, "matmul")));
  check_order(plan);
}

TEST_CASE("every step that waits for a group is ordered behind what the group waits for") {
  const auto program = [] {
    const auto first = tg::group(tg::reshape<256>(tg::softmax(x)));
    const auto behind = tg::after(first);
    return tg::outputs(behind(tg::matmul(v, v)), behind(tg::matmul(v, x)), behind(tg::matmul(x, v)));
  };
  const plan_view& plan = plan_of(program);
  const step_graph graph(plan);
  for (int which = 0; which < 3; ++which)
    CHECK(graph.ordered(step_of(plan, "softmax"), step_of(plan, "matmul", which)));
  check_order(plan);
}

TEST_CASE("updates of one variable are ordered, though neither reads what the other wrote") {
  const auto program = [] { return tg::outputs(tg::assign_add(v, x), tg::assign_add(v, x), tg::assign_add(v, x)); };
  const plan_view& plan = plan_of(program);
  const step_graph graph(plan);
  REQUIRE(graph.size() == 3);
  CHECK(graph.ordered(0, 1));
  CHECK(graph.ordered(1, 2));
  check_order(plan);
}

TEST_CASE("an update waits for those who read the old value, and later readers for the update") {
  const auto program = [] {
    const auto old = tg::matmul(v, x);
    const auto update = tg::assign_add(v, x);
    return tg::outputs(old, update, tg::softmax(update));
  };
  const plan_view& plan = plan_of(program);
  const step_graph graph(plan);
  CHECK(graph.ordered(step_of(plan, "matmul"), step_of(plan, "assign_add")));
  CHECK(graph.ordered(step_of(plan, "assign_add"), step_of(plan, "softmax")));
  check_order(plan);
}

TEST_CASE("a program that trains keeps its bytes in every order") {
  const auto program = [] {
    const auto hidden = tg::dense<"hidden", 8>(x, tg::tanh);
    const auto other = tg::dense<"other", 8>(tg::dropout(x, 0.3), tg::relu);
    const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(tg::concat<1>(hidden, other + hidden))));
    return tg::outputs(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.1}));
  };
  check_order(plan_of(program));
}

TEST_CASE("independent branches keep memory of their own") {
  const auto program = [] {
    const auto branch = [](auto in) { return tg::matmul(tg::matmul(tg::matmul(in, v), x), v); };
    return tg::outputs(tg::sum(branch(x)), tg::sum(branch(tg::transpose(x))));
  };
  check_order(plan_of(program));
}

/// A plan of kernels that each read some tensors that were written before, as one might be for a large program.
struct random_plan {
  std::vector<tg::plan::plan_node> nodes;
  std::vector<tg::ir::node_id> inputs;
  std::vector<tg::plan::plan_step> steps;
  std::vector<tg::plan::plan_block> blocks;

  random_plan(std::uint64_t number, std::int32_t count) {
    const tg::random_key key{number, 5, 0};
    for (std::int32_t i = 0; i < count; ++i) {
      const auto r = tg::random_block(key, static_cast<std::uint64_t>(i));
      tg::plan::plan_node n;
      n.op = &tg::ir::info<tg::plan::transfer>;  // a kernel that writes over nothing
      n.first_input = static_cast<std::int32_t>(inputs.size());
      n.storage = storage_kind::arena;
      n.slot = n.step = i;
      // Some are read by nobody, some by steps much later.
      const int most = i == 0 ? 0 : static_cast<int>(r[0] % 3);
      for (; n.inputs < most; ++n.inputs) {
        const auto back = static_cast<std::int32_t>(r[static_cast<std::size_t>(n.inputs) + 1] % 24);
        const std::int32_t from = back < i ? i - 1 - back : 0;
        inputs.push_back(from);
        blocks[static_cast<std::size_t>(from)].last = i;
      }
      nodes.push_back(n);
      steps.push_back({i, n.first_input, n.inputs, false});
      blocks.push_back({i, i, i});
    }
  }
  [[nodiscard]] plan_view view() const {
    plan_view all;
    all.nodes = nodes;
    all.inputs = all.operands = inputs;
    all.steps = steps;
    all.blocks = blocks;
    return all;
  }
};

TEST_CASE("plans of any form and of many steps keep their bytes in every order") {
  for (std::uint64_t number = 0; number < 12; ++number) {
    const random_plan plan(number, number < 8 ? 40 : 150);
    check_order(plan.view());
  }
}

TEST_CASE("steps far apart are ordered by those between them") {
  random_plan plan(0, 0);
  for (std::int32_t i = 0; i < 200; ++i) {
    tg::plan::plan_node n;
    n.op = &tg::ir::info<tg::plan::transfer>;
    n.first_input = i == 0 ? 0 : i - 1;
    n.inputs = i > 0;
    n.storage = storage_kind::arena;
    n.slot = n.step = i;
    if (i > 0) plan.inputs.push_back(i - 1);
    plan.nodes.push_back(n);
    plan.steps.push_back({i, n.first_input, n.inputs, false});
    plan.blocks.push_back({i, i, i + 1});
  }
  const plan_view view = plan.view();
  const step_graph graph(view);
  for (const std::size_t s : {0u, 63u, 64u, 65u, 127u, 128u}) {
    CHECK(graph.ordered(s, 199));
    CHECK_FALSE(graph.ordered(199, s));
  }
  std::vector<std::int64_t> bytes(200, 64), offsets(200);
  CHECK(graph.place_blocks(bytes, offsets) == 128);  // as in a chain of steps in order
}

}  // namespace
