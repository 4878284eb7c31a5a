// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/local_devices.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

// Two made-up kinds of devices beside CPUs: one multiplies matrices, the other does what is element-wise.

namespace {

template <class Graph, tagma::ir::op_kind Kind>
constexpr auto nodes_of_kind = [] {
  tagma::fixed_array<bool, Graph::nodes> result{};
  for (tagma::ir::node_id i = 0; i < Graph::view.size(); ++i)
    result[i] = Graph::view.info(i).is(Kind) || Graph::view.info(i).is(tagma::ir::op_kind::variable);
  return result;
}();
/// Tells the kinds apart in tables.
template <int Kind>
void kernel_of_kind(const tagma::runtime::kernel_args&, const tagma::runtime::run_context&) {}
template <class Plan, int Kind>
constexpr auto entries_of_kind = [] {
  tagma::fixed_array<tagma::runtime::kernel_entry, Plan::steps.size()> list{};
  for (auto& entry : list) entry.run = &kernel_of_kind<Kind>;
  return list;
}();

template <tagma::fixed_string Type, class Graph, int Number, tagma::ir::op_kind Kind>
struct made_up_devices {
  static constexpr bool exists = true;
  static constexpr tagma::fixed_string text = Type;
  static constexpr std::string_view type = text.view();
  static constexpr auto kernels = nodes_of_kind<Graph, Kind>;
  [[nodiscard]] static constexpr bool begins_loop(const tagma::ir::op_info&) { return false; }
  template <class Plan>
  [[nodiscard]] static constexpr tagma::array_view<const tagma::runtime::kernel_entry> entries() {
    return entries_of_kind<Plan, Number>;
  }
  [[nodiscard]] static tagma::owned<tagma::runtime::accelerator> start(const tagma::gpu_options&) { return {}; }
};

}  // namespace

template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 1> : made_up_devices<"MATRIX", Graph, 1, tagma::ir::op_kind::compute> {};
template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 3> : made_up_devices<"VECTOR", Graph, 3, tagma::ir::op_kind::elementwise> {};

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

template <class Program>
using plan_of = typename Program::full_plan;

/// The type of the device of each step, behind the name of its operation.
template <class Plan>
std::string steps_of() {
  std::string text;
  for (const auto& step : Plan::steps) {
    const auto& n = Plan::nodes[step.node];
    text.append(n.op->name).append(" ").append(Plan::where::placed.set()[n.device].name.type.view()).append("; ");
  }
  return text;
}

}  // namespace

TEST_CASE("a program is placed on two kinds of devices besides CPUs") {
  const auto w = tg::variable<"w", float, 4, 3>(tg::zeros);
  const auto y = tg::tanh(tg::matmul(x, w));
  const auto here = tg::on<"/cpu:0">([](const auto& e) { return tg::argmax(e); })(y);
  const auto program = tg::compile([=] { return tg::outputs(here); });
  using plan = plan_of<std::remove_const_t<decltype(program)>>;
  CHECK(steps_of<plan>() ==
        "transfer MATRIX; matmul MATRIX; transfer CPU; transfer VECTOR; tanh VECTOR; transfer CPU; argmax CPU; ");
  STATIC_REQUIRE(plan::where::kind == -2);
  for (std::size_t d = 0; d < plan::where::device_count; ++d)
    CHECK((plan::where::devices[d].memory == tg::memory_kind::host) ==
          (plan::where::devices[d].name.type == tg::device_text("CPU")));
  // Each step has the kernels of its device.
  const auto tables = tg::runtime::kernels_of<plan>();
  REQUIRE(tables.accelerator.size() == plan::steps.size());
  for (std::size_t s = 0; s < plan::steps.size(); ++s) {
    const auto type = plan::where::placed.set()[plan::nodes[plan::steps[s].node].device].name.type.view();
    CHECK(tables.accelerator[s].run == (type == "MATRIX"   ? &kernel_of_kind<1>
                                        : type == "VECTOR" ? &kernel_of_kind<3>
                                                           : nullptr));
  }
}

TEST_CASE("what another kind reads goes to the host once") {
  const auto y = tg::matmul(x, tg::variable<"w", float, 4, 3>(tg::zeros));
  const auto z = tg::tanh(y) * 2.0f;
  const auto here = tg::on<"/cpu:0">([](const auto& e) { return tg::argmax(e); })(y);
  const auto program = tg::compile([=] { return tg::outputs(y, z, here); });
  using plan = plan_of<std::remove_const_t<decltype(program)>>;
  int transfers = 0;
  for (const auto& step : plan::steps) {
    if (plan::nodes[step.node].op != &tg::ir::info<tg::plan::transfer>) continue;
    ++transfers;
    const auto& from = plan::nodes[plan::operands[step.first_operand]];
    CHECK((plan::nodes[step.node].device == 0) == (plan::where::kinds[from.device] >= 0));
  }
  CHECK(transfers == 4);  // of x, of y to the host and on, and of what is made of it
}

TEST_CASE("what scopes ask for holds among several kinds") {
  const auto y = tg::on<"/device:MATRIX:1">(tg::matmul(x, tg::variable<"w", float, 4, 3>(tg::zeros)));
  const auto z = tg::on<"/device:CPU:0">([](const auto& e) { return tg::tanh(e); })(y);
  const auto program = tg::compile([=] { return tg::outputs(z); });
  using plan = plan_of<std::remove_const_t<decltype(program)>>;
  CHECK(steps_of<plan>() == "transfer MATRIX; matmul MATRIX; transfer CPU; tanh CPU; ");
  STATIC_REQUIRE(plan::where::kind == 1);
  CHECK(plan::where::placed.set()[plan::nodes[plan::steps[1].node].device].name.id == 1);
}

TEST_CASE("a graph is placed on a list of devices of several tasks") {
  constexpr tg::fixed_array<tg::device_entry, 4> devices{
      {{{tg::device_string<"/job:worker/replica:0/task:0/cpu:0">}},
       {tg::device_string<"/job:worker/replica:0/task:1/cpu:0">},
       {tg::device_string<"/job:ps/replica:0/task:0/cpu:0">},
       {tg::device_string<"/job:worker/replica:0/task:0/device:VECTOR:0">, tg::memory_kind::own}}};
  const auto w = tg::on<"/job:ps">(tg::variable<"w", float, 4, 3>(tg::zeros));
  const auto y =
      tg::on<"/job:worker/task:1/cpu:0">([](const auto& e, const auto& k) { return tg::matmul(e, k); })(x, w);
  const auto z = tg::on<"/job:worker">([](const auto& e) { return tg::tanh(e); })(y);
  const auto program = tg::compile([=] { return tg::outputs(z); });
  using graph = decltype(program)::graph;
  constexpr tg::device_spec home = tg::device_string<"/job:worker/replica:0/task:0">;
  constexpr auto placed = tg::ir::place_graph<graph>(devices, home);
  STATIC_REQUIRE(placed.failure.problem == tg::ir::place_problem::none);
  for (tg::ir::node_id i = 0; i < graph::view.size(); ++i) {
    const auto& where = devices[placed.device[i]].name;
    const auto op = graph::view.info(i).name;
    INFO(op);
    if (op == "variable") CHECK(where.job.view() == "ps");
    if (op == "matmul") CHECK(where.task == 1);
    if (op == "tanh") CHECK(where.type.view() == "VECTOR");
  }
}
