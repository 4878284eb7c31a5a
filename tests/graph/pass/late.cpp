// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/late.hpp"

#include <catch2/catch.hpp>

#include "support/late.hpp"

namespace {

namespace tg = tagma;
namespace ir = tagma::ir;
using tg::test::late;

constexpr auto x = tg::placeholder<"x", float, tg::dyn>();

/// Control dependencies of the node of an operation.
template <class Graph>
int waits_of(std::string_view op) {
  for (ir::node_id i = 0; i < Graph::view.size(); ++i)
    if (Graph::view.info(i).name == op) return static_cast<int>(Graph::view.controls(i).size());
  return -1;
}

TEST_CASE("a graph without late operations is planned as it is") {
  const auto out = tg::zeros_like(x) + tg::mean(x);
  const auto program = tg::compile([=] { return tg::outputs(out); });
  using graph = decltype(program)::graph;
  using planned = ir::planned_graph<graph>;
  CHECK(&planned::view == &graph::view);
}

TEST_CASE("who reads only the shape of what is late waits for the operation that finds it") {
  const auto kept = late<tg::test::positive>(x);
  const auto zeros = tg::cast<double>(tg::ones_like(tg::exp(kept)));
  const auto program = tg::compile([=] { return tg::outputs(zeros); });
  using graph = decltype(program)::graph;
  using planned = ir::planned_graph<graph>;
  CHECK(planned::edges == graph::edges + 1);
  CHECK(waits_of<graph>("broadcast_like") == 0);
  CHECK(waits_of<planned>("broadcast_like") == 1);
  CHECK(waits_of<planned>("cast") == 0);
  for (ir::node_id i = 0; i < planned::view.size(); ++i) {
    CHECK(planned::view[i].op == graph::view[i].op);
    REQUIRE(planned::view.inputs(i).size() == graph::view.inputs(i).size());
    for (std::size_t k = 0; k < planned::view.inputs(i).size(); ++k)
      CHECK(planned::view.inputs(i)[k] == graph::view.inputs(i)[k]);
    for (const ir::node_id c : planned::view.controls(i)) CHECK(planned::view.info(c).name == "test.positive");
  }
}

TEST_CASE("who waits for it anyhow gets no control dependency") {
  const auto kept = late<tg::test::positive>(x);
  const auto spread = kept * 2.0f + tg::mean(kept);  // 1 / n reads the shape, its product the sum
  const auto around = tg::scatter_add(tg::variable<"v", float, 3>(tg::zeros), tg::cast<std::int32_t>(kept),
                                      tg::ones_like(kept) * tg::sum(kept));
  const auto program = tg::compile([=] { return tg::outputs(spread, around); });
  using planned = ir::planned_graph<decltype(program)::graph>;
  CHECK(waits_of<planned>("fraction") == 1);
  CHECK(waits_of<planned>("sum") == 0);
  CHECK(waits_of<planned>("multiply") == 0);
  CHECK(waits_of<planned>("scatter_add") == 0);
}

}  // namespace
