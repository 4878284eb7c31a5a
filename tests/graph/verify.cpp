// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/verify.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/device/operation_faces.hpp"

namespace {

namespace tg = tagma;
namespace ir = tagma::ir;
using tg::test::code_of;
using tg::test::thrown;

/// Tables that grow by a node.
struct tables {
  std::vector<ir::node> nodes;
  std::vector<ir::node_id> edges, roots;
  std::vector<ir::attribute> attributes;
  std::vector<ir::loop_info> loops;
  std::vector<ir::back_edge> back_edges;
  std::vector<std::int16_t> loop_of;

  ir::node_id add(const char* operation, const tg::tensor_spec& spec, const std::vector<ir::node_id>& inputs,
                  const std::vector<ir::attribute>& with, std::string_view name = {}, std::string_view suffix = {}) {
    ir::node n;
    n.op = tg::device::operations::find_operation_face(operation)->rules;
    n.spec = spec;
    n.first_edge = static_cast<std::int32_t>(edges.size());
    n.inputs = static_cast<std::int16_t>(inputs.size());
    n.first_attribute = static_cast<std::int32_t>(attributes.size());
    n.attribute_count = static_cast<std::int16_t>(with.size());
    n.name = name;
    n.suffix = suffix;
    edges.insert(edges.end(), inputs.begin(), inputs.end());
    attributes.insert(attributes.end(), with.begin(), with.end());
    nodes.push_back(n);
    return static_cast<ir::node_id>(nodes.size()) - 1;
  }
  void verify() const {
    const ir::graph_view g{{nodes.data(), nodes.size()},
                           {edges.data(), edges.size()},
                           {attributes.data(), attributes.size()},
                           {roots.data(), roots.size()},
                           {},
                           {loops.data(), loops.size()},
                           {back_edges.data(), back_edges.size()},
                           {loop_of.data(), loop_of.size()}};
    ir::verify(g, tg::device::operations::operation_faces(), 0);
  }
};

constexpr tg::tensor_spec row{tg::dtype::float32, {8}};
const std::vector<ir::attribute> ones{1, 1, 0};  // of a variable

TEST_CASE("a name is of one thing") {
  tables t;
  t.add("placeholder", row, {}, {}, "b");
  t.add("variable", row, {}, ones, "b");  // a placeholder and a variable may share one
  t.add("variable", row, {}, ones, "b", "/adam_m");
  t.add("variable", row, {}, ones, "a");
  t.verify();
  tables other = t;
  other.add("variable", row, {}, ones, "c");
  other.add("variable", row, {}, ones, "b", "/adam_m");
  other.add("variable", row, {}, ones, "a");
  CHECK(thrown([&] { other.verify(); }).what() ==
        std::string("InvalidArgument: node 5: TAGMA-E060 variable 'b/adam_m' is node 2 as well"));
  t.add("placeholder", row, {}, {}, "b");
  t.add("placeholder", row, {}, {}, "b");
  CHECK(thrown([&] { t.verify(); }).what() ==
        std::string("InvalidArgument: node 4: TAGMA-E060 placeholder 'b' is node 0 as well"));
}

TEST_CASE("a graph of many variables") {
  std::vector<std::string> names;
  for (int k = 0; k < 5000; ++k) names.push_back("net/layer_" + std::to_string(k) + "/kernel");
  tables t;
  ir::node_id y = t.add("placeholder", row, {}, {}, "x");
  for (const std::string& name : names) {
    const ir::node_id v = t.add("variable", row, {}, ones, name);
    y = t.add("add", row, {y, v}, {});
    t.add("assign_sub", row, {v, t.add("square", row, {v}, {})}, {});
  }
  t.roots = {y};
  t.verify();
  t.add("variable", row, {}, ones, names[3210]);
  CHECK(thrown([&] { t.verify(); }).what() ==
        "InvalidArgument: node 20001: TAGMA-E060 variable 'net/layer_3210/kernel' is node " +
            std::to_string(1 + 4 * 3210) + " as well");
}

TEST_CASE("a result has one place") {
  tables t;
  const ir::node_id best = t.add("top_k", {}, {t.add("placeholder", row, {}, {}, "x")}, {2});
  const tg::tensor_spec pair{tg::dtype::float32, {2}}, positions{tg::dtype::int64, {2}};
  t.roots = {t.add("output", pair, {best}, {0}), t.add("output", positions, {best}, {1})};
  t.verify();
  t.roots.push_back(t.add("output", positions, {best}, {1}));
  CHECK(thrown([&] { t.verify(); }).what() == std::string("InvalidArgument: node 4: is result 1 of node 1 once more"));
}

/// A value that is doubled as often as an input says.
struct doubled : tables {
  doubled() {
    const ir::node_id count = add("placeholder", {tg::dtype::int64, {}}, {}, {}, "count");
    begin = add("placeholder", row, {}, {}, "begin");
    head = add("loop_times", {tg::dtype::int64, {4}}, {count}, {4, 0});
    start = add("loop_copy", row, {begin}, {});
    carried = add("loop_carried", row, {head, start}, {0});
    next = add("add", row, {carried, carried}, {});
    last = add("loop_last", row, {carried, head, next}, {});
    loops = {{head, -1, 0}};
    back_edges = {{carried, next}};
    loop_of = {-1, -1, -1, -1, 0, 0, -1};
    roots = {last};
  }
  ir::node_id begin, head, start, carried, next, last;
};

TEST_CASE("what a loop carries begins with a copy of its own") {
  doubled().verify();
  const auto text_of = [](const tables& t) { return std::string(thrown([&] { t.verify(); }).what()); };
  doubled t;
  t.edges[static_cast<std::size_t>(t.nodes[static_cast<std::size_t>(t.carried)].first_edge) + 1] = t.begin;
  CHECK(text_of(t) == "InvalidArgument: node 4: begins with node 1, which is no copy for it alone");
  t = {};
  t.roots.push_back(t.start);
  CHECK(text_of(t) == "InvalidArgument: output is node 3, with which node 4 begins");
  t = {};
  t.roots.push_back(t.add("square", row, {t.start}, {}));
  t.loop_of.push_back(-1);
  CHECK(text_of(t) == "InvalidArgument: node 7: reads node 3, with which node 4 begins");
}

TEST_CASE("what is in a body stays there") {
  const auto text_of = [](const tables& t) { return std::string(thrown([&] { t.verify(); }).what()); };
  doubled t;
  t.roots.push_back(t.add("square", row, {t.next}, {}));
  t.loop_of.push_back(0);
  CHECK(text_of(t) == "InvalidArgument: output is node 7, which is in the body of loop 0");
  t = {};
  // Another loop begins with what the first one makes in each iteration.
  const ir::node_id start = t.add("loop_copy", row, {t.next}, {});
  const ir::node_id head = t.add("loop_times", {tg::dtype::int64, {4}}, {0}, {4, 0});
  const ir::node_id carried = t.add("loop_carried", row, {head, start}, {0});
  const ir::node_id next = t.add("square", row, {carried}, {});
  t.roots.push_back(t.add("loop_last", row, {carried, head, next}, {}));
  t.loops = {{t.head, -1, 0}, {head, -1, 0}};
  t.back_edges.push_back({carried, next});
  t.loop_of.insert(t.loop_of.end(), {-1, -1, 1, 1, -1});
  CHECK(text_of(t) == "InvalidArgument: node 8: has the rank of another loop, 0");
  t.loops[1].rank = 1;
  CHECK(text_of(t).find("InvalidArgument: ") == 0);
}

TEST_CASE("an operation that nobody knows") {
  tables t;
  t.add("placeholder", row, {}, {}, "x");
  const ir::graph_view g{{t.nodes.data(), t.nodes.size()}, {}, {}, {}};
  const ir::operation_face* const none[] = {tg::device::operations::find_operation_face("add")};
  CHECK(code_of([&] { ir::verify(g, none, 0); }) == tg::status_code::invalid_argument);
}

TEST_CASE("a row is one of what a loop gathers") {
  tables t;
  const ir::node_id x = t.add("placeholder", {tg::dtype::float32, {5, 8}}, {}, {}, "x");
  t.add("row", row, {x}, {3});
  CHECK_THAT(tg::test::text_of([&] { t.verify(); }),
             Catch::Contains("node 1: row: node 0 is not what a loop gathers; use slice"));
}

TEST_CASE("a loop that goes on while a value is true carries it") {
  const tg::tensor_spec decision{tg::dtype::boolean, {}};
  for (const bool carries : {true, false}) {
    tables t;
    const ir::node_id x = t.add("placeholder", carries ? decision : row, {}, {}, "x");
    const ir::node_id go = t.add("placeholder", decision, {}, {}, "go");
    const tg::tensor_spec carried = t.nodes[static_cast<std::size_t>(x)].spec;
    const ir::node_id copy = t.add("loop_copy", carried, {x}, {});
    const ir::node_id head = t.add("loop_while", {tg::dtype::int64, {4}}, {go}, {4, 0});
    const ir::node_id value = t.add("loop_carried", carried, {head, copy}, {0});
    const ir::node_id next = t.add(carries ? "logical_not" : "exp", carried, {value}, {});
    t.roots = {t.add("loop_last", carried, {value, head, next}, {})};
    t.loops = {{head, -1, 0}};
    t.back_edges = {{value, next}};
    t.loop_of = {-1, -1, -1, -1, 0, 0, -1};
    if (carries)
      t.verify();
    else
      CHECK_THAT(tg::test::text_of([&] { t.verify(); }),
                 Catch::Contains("node 3: loop_while: the first value that the loop carries is no scalar bool"));
  }
}

}  // namespace
