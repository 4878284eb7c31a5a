// SPDX-License-Identifier: BSL-1.0
// Programs that are cut into parts, each with a session of its own, beside the same program as a whole.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/any_tensors.hpp"
#include "support/cut_session.hpp"
#include "support/errors.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dtype;
using tg::dyn;
using tg::feed_to;
using tg::test::cut_session;
using tg::test::same_bytes;
using tg::test::some;

using rule = std::function<int(const tg::ir::graph_view&, tg::ir::node_id)>;
std::vector<std::int16_t> tasks_by(const tg::any_program& p, const rule& task) {
  std::vector<std::int16_t> all;
  for (tg::ir::node_id i = 0; i < p.graph().size(); ++i) all.push_back(static_cast<std::int16_t>(task(p.graph(), i)));
  return all;
}
/// Variables and their updates on tasks 0 and 1 by turns, all else on task 2: parameter servers and a worker.
int server_or_worker(const tg::ir::graph_view& g, tg::ir::node_id i) {
  tg::ir::node_id of = i;
  while (g.info(of).is(tg::ir::op_kind::update)) of = g.inputs(of)[0];
  if (!g.info(of).is(tg::ir::op_kind::variable)) return 2;
  if (g.info(i).is(tg::ir::op_kind::update) || !g[of].suffix.empty()) {
    // Slots are with the variable that they belong to.
    for (tg::ir::node_id v = 0; v < g.size(); ++v)
      if (g.info(v).is(tg::ir::op_kind::variable) && g[v].suffix.empty() && g[v].name == g[of].name) of = v;
  }
  int number = 0;
  for (tg::ir::node_id v = 0; v < of; ++v) number += g.info(v).is(tg::ir::op_kind::variable) && g[v].suffix.empty();
  return number % 2;
}

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
constexpr auto y = tg::placeholder<"y", float, dyn, 3>();

tg::any_program network() {
  const auto hidden = tg::dropout(tg::dense<"hidden", 16>(x, tg::relu), 0.25);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(hidden) - y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = tg::exponential_decay{.initial = 0.05}});
  return tg::any_program(tg::compile([=] { return tg::outputs(loss, train); }), {"loss", "train"});
}

TEST_CASE("a model that is trained by parts is the model that is trained as a whole") {
  const tg::any_program whole = network();
  for (const auto apart : {tg::isolation::runs, tg::isolation::variables}) {
    tg::session<tg::any_program> alone(whole, {.intra_op_threads = 1, .inter_op_threads = 1});
    cut_session parts(whole, tasks_by(whole, server_or_worker), 3, apart);
    CHECK(parts.program(0).node_count() > 0);
    CHECK(parts.program(1).node_count() > 0);
    for (int step = 0; step < 5; ++step) {
      INFO("step " << step);
      const tg::extent rows = step == 3 ? 1 : 7;
      const auto in = some({rows, 8}, step), out = some({rows, 3}, step + 9);
      const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
      const auto expected = alone.run(std::vector<tg::output_name>{"loss", "train"}, feeds);
      const auto found = parts.run({"loss", "train"}, feeds);
      CHECK(same_bytes(found[0], expected[0]));
    }
    const auto in = some({2, 8}, 1), out = some({2, 3}, 2);
    const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
    CHECK(same_bytes(parts.run({"loss"}, feeds)[0], alone.run(std::vector<tg::output_name>{"loss"}, feeds)[0]));
  }
}

TEST_CASE("what leads from part to part is what has to") {
  const tg::any_program whole = network();
  cut_session parts(whole, tasks_by(whole, server_or_worker), 3, tg::isolation::variables);
  const auto in = some({4, 8}, 1), out = some({4, 3}, 2);
  const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
  (void)parts.run({"loss"}, feeds);
  // Parameters, once each: 8 * 16 + 16 + 16 * 3 + 3 of four bytes.
  CHECK(parts.bytes() == 4 * (8 * 16 + 16 + 16 * 3 + 3));
  const std::int64_t before = parts.bytes();
  (void)parts.run({"train"}, feeds);
  // And as many gradients; beside them the rate, the count of steps, and orders.
  const std::int64_t moved = parts.bytes() - before;
  CHECK(moved >= 2 * 4 * (8 * 16 + 16 + 16 * 3 + 3));
  CHECK(moved <= 2 * 4 * (8 * 16 + 16 + 16 * 3 + 3) + 200);
}

TEST_CASE("a loop that reads a variable does not wait for what its next update sends away") {
  // The product waits for task 1, which waits for the update; the difference is read before that.
  const auto v = tg::variable<"v", float, 2>(1.0f);
  const auto c = tg::placeholder<"c", float, 2>();
  const auto difference = v - 0.5f * v;
  const auto update = tg::assign_add(v, c);
  const auto away = tg::softmax(update);
  const auto product = away * difference;
  const tg::any_program whole(tg::compile([=] { return tg::outputs(product, update); }), {"product", "update"});
  cut_session parts(whole,
                    tasks_by(whole, [](const tg::ir::graph_view& g,
                                       tg::ir::node_id i) { return g.info(i).name == "softmax" ? 1 : 0; }),
                    2, tg::isolation::variables);
  tg::session<tg::any_program> alone(whole, {.intra_op_threads = 1, .inter_op_threads = 1});
  for (int step = 0; step < 3; ++step) {
    const auto in = some({2}, step);
    const std::vector<tg::named_feed> feeds{feed_to("c", in)};
    const auto expected = alone.run(std::vector<tg::output_name>{"product", "update"}, feeds);
    CHECK(same_bytes(parts.run({"product", "update"}, feeds)[0], expected[0]));
  }
}

TEST_CASE("loops and what they read may be on different tasks") {
  constexpr auto rows = tg::placeholder<"rows", float, dyn, 4>();
  const auto w = tg::variable<"w", float, 4>(tg::random_uniform(-1, 1));
  const auto cells = tg::gru<"cells", 4>(tg::expand_dims<0>(rows * w));
  const auto loss = tg::mean(tg::square(cells));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const tg::any_program whole(tg::compile([=] { return tg::outputs(loss, train); }), {"loss", "train"});
  CHECK_FALSE(whole.graph().loops.empty());
  tg::session<tg::any_program> alone(whole, {.intra_op_threads = 1, .inter_op_threads = 1});
  cut_session parts(whole, tasks_by(whole, server_or_worker), 3, tg::isolation::variables);
  for (int step = 0; step < 4; ++step) {
    const auto in = some({step % 2 == 0 ? 6 : 2, 4}, step);
    const std::vector<tg::named_feed> feeds{feed_to("rows", in)};
    const auto expected = alone.run(std::vector<tg::output_name>{"loss", "train"}, feeds);
    CHECK(same_bytes(parts.run({"loss", "train"}, feeds)[0], expected[0]));
  }
}

TEST_CASE("the shape of something known is read without what it is found from") {
  tg::graph_builder b;
  const auto in = b.placeholder("in", dtype::float32, {dyn});
  const auto wide = b.placeholder("wide", dtype::float32, {4});
  const auto known = b.add("add", {b.add("tanh", {in}), wide});
  const auto like = b.add("broadcast_like", {b.add("exp", {in}), known});
  const tg::any_program whole = b.build({{"like", like}, {"known", known}});
  cut_session parts(
      whole, tasks_by(whole, [](const auto& g, auto i) { return g.inputs(i).empty() || g[i].name == "exp" ? 1 : 0; }),
      2, tg::isolation::runs);
  const tg::tensor<float> four({4});
  const auto found = parts.run({"like", "known"}, {feed_to("in", four), feed_to("wide", four)});
  CHECK(found[0].dims() == tg::shape{4});
  CHECK(found[0].as<float>()[3] == 1);
}

TEST_CASE("a queue of one task feeds a computation of another") {
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float, 3>> work;
  constexpr auto item = tg::placeholder<"item", float, 3>();
  const auto put = tg::enqueue(work, item);
  const auto taken = tg::dequeue(work);
  const auto twice = tg::exp(taken) * 2.0f;
  const tg::any_program whole(tg::compile([=] { return tg::outputs(put, twice); }), {"put", "twice"});
  const auto is_of_queue = [](const tg::ir::graph_view& g, tg::ir::node_id i) {
    if (g.info(i).is(tg::ir::op_kind::resource)) return true;
    for (const tg::ir::node_id in : g.inputs(i))
      if (g.info(in).is(tg::ir::op_kind::resource)) return true;
    return false;
  };
  cut_session parts(whole, tasks_by(whole, [&](const auto& g, auto i) { return is_of_queue(g, i) ? 0 : 1; }), 2,
                    tg::isolation::variables);
  const tg::tensor<float> three({3}, {0.0f, 1.0f, 2.0f});
  (void)parts.run({"put"}, {feed_to("item", three)});
  const auto found = parts.run({"twice"}, {});
  CHECK(found[0].as<float>()[0] == 2);
}

TEST_CASE("the error of one part ends the others") {
  const tg::any_program whole = network();
  cut_session parts(whole, tasks_by(whole, server_or_worker), 3, tg::isolation::variables);
  const auto in = some({4, 8}, 1), out = some({5, 3}, 2);
  const std::vector<tg::named_feed> uneven{feed_to("x", in), feed_to("y", out)};
  CHECK(tg::test::code_of([&] { (void)parts.run({"train"}, uneven); }) == tg::status_code::invalid_argument);
  const auto failing = [&](std::size_t part) {
    if (part == 1) tg::fail(tg::status_code::unavailable, "the task is lost");
  };
  const auto four = some({4, 3}, 2);
  const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", four)};
  CHECK(tg::test::code_of([&] { (void)parts.run({"train"}, feeds, failing); }) == tg::status_code::unavailable);
  (void)parts.run({"train"}, feeds);
}

TEST_CASE("a part does not run by itself") {
  const tg::any_program whole = network();
  const cut_session parts(whole, tasks_by(whole, server_or_worker), 3, tg::isolation::variables);
  tg::session<tg::any_program> alone(parts.program(0));
  const std::string output = parts.program(0).outputs()[0];
  const std::string said = tg::test::text_of([&] { (void)alone.run(output, tg::timeout(std::chrono::seconds(20))); });
  CHECK(said.find("with the other parts") != std::string::npos);
}

TEST_CASE("what cannot be cut is named") {
  const tg::any_program whole = network();
  const auto text = [&](const rule& task, int tasks) {
    return tg::test::text_of([&] { (void)tg::ir::cut(whole.graph(), {tasks_by(whole, task), {}, tasks}); });
  };
  CHECK(text([](const auto&, auto) { return 3; }, 2).find("on task 3 of 2") != std::string::npos);
  const std::string apart =
      text([](const auto& g, auto i) { return g.info(i).is(tg::ir::op_kind::update) ? 1 : 0; }, 2);
  CHECK(apart.find("is not with its variable") != std::string::npos);
}

}  // namespace
