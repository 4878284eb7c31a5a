// SPDX-License-Identifier: BSL-1.0
// Random graphs of numbers and texts whose nodes are on random tasks, and on random devices of these, beside the same
// graphs in one session: the same bytes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/servers.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/fake_gpu_programs.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dtype;
using tg::graph_node;

const tg::cluster three({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});
constexpr const char* places[] = {"/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0"};
/// Of tasks that have two GPUs, what may be asked for besides. What no GPU has a kernel for is on the CPU then.
constexpr const char* devices[] = {"", "", "/device:CPU:0", "/device:GPU:0", "/device:GPU:1"};
constexpr tg::extent width = 5;

/// The same graph for the same seed, with each node on a random task or without a scope.
/// @param large columns are many, so that edges wait until they are wanted
/// @param gpus one bit for each task: it has some
tg::any_program make(unsigned seed, bool placed, bool large, unsigned gpus = 0) {
  std::mt19937 random(seed), more(seed + 77);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const tg::extent rows = large ? 4000 : 3;
  tg::graph_builder b;
  std::vector<graph_node> values, updates;
  const auto on_random_task = [&](const auto& add) {
    const std::size_t task = below(3);
    if (!placed) return add();
    std::string place = places[task];
    if ((gpus >> task & 1) != 0) place += devices[more() % std::size(devices)];
    const auto scope = b.on(place);
    return add();
  };
  values.push_back(on_random_task([&] { return b.placeholder("x", dtype::float32, {rows, width}); }));
  // Texts have the elements of a row each, so that they can be numbers again.
  std::vector<graph_node> texts{on_random_task([&] { return b.placeholder("t", dtype::string, {rows}); })};
  const std::size_t variables = 1 + below(3);
  std::vector<graph_node> state;
  for (std::size_t i = 0; i < variables; ++i) {
    state.push_back(on_random_task([&] {
      return b.variable("v" + std::to_string(i), dtype::float32, {rows, width}, tg::random_uniform(-1, 1));
    }));
    values.push_back(state.back());
  }
  const std::size_t count = 4 + below(30);
  for (std::size_t i = 0; i < count; ++i) {
    const graph_node one = values[below(values.size())], two = values[below(values.size())];
    const graph_node text = texts[below(texts.size())], other = texts[below(texts.size())];
    const std::size_t what = below(9);
    if (what >= 7) {
      const auto first = static_cast<tg::extent>(below(static_cast<std::size_t>(rows)));
      texts.push_back(on_random_task([&] {
        if (what == 7) return b.add("reshape", {b.add("reshape", {text}, {rows, 1})}, {rows});
        return b.add("slice", {b.add("concat", {text, other}, {0})}, {first, first + rows});
      }));
      continue;
    }
    values.push_back(on_random_task([&] {
      switch (what) {
        case 0:
          return b.add("add", {one, two});
        case 1:
          return b.add("multiply", {one, two});
        case 2:
          return b.add("tanh", {one});
        case 3:
          return b.add("subtract", {one, two});
        case 4:
          return b.add("negate", {one});
        case 5:
          return b.add("decode_raw", {text}, {dtype::float32, width, true});
        default:
          return b.add("relu", {one});
      }
    }));
  }
  for (const graph_node& v : state) {
    const graph_node by = values[below(values.size())];
    if (below(2) == 0) updates.push_back(on_random_task([&] { return b.add("assign_add", {v, b.add("tanh", {by})}); }));
  }
  static constexpr const char* results[] = {"y0", "y1", "y2", "y3"};
  static constexpr const char* changes[] = {"u0", "u1", "u2"};
  std::vector<tg::named_output> outputs;
  for (const char* const name : results) outputs.push_back({name, values[below(values.size())]});
  for (const char* const name : {"s0", "s1"}) outputs.push_back({name, texts[below(texts.size())]});
  outputs[0].node = on_random_task([&] { return b.add("add", {outputs[0].node, values[0]}); });  // needs what is fed
  for (std::size_t i = 0; i < updates.size(); ++i) outputs.push_back({changes[i], updates[i]});
  return b.build(outputs, gpus != 0);
}

TEST_CASE("random graphs on random tasks have the bytes of one session") {
  const char* const more = std::getenv("TAGMA_SEEDS");
  const unsigned seeds = more == nullptr ? 60 : static_cast<unsigned>(std::atoi(more));
  std::size_t on_gpus = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const bool large = seed % 4 == 3;
    // Every second graph has GPUs, on some of the tasks.
    const unsigned gpus = seed % 2 == 0 ? 0 : 1 + seed / 2 % 7;
    const tg::any_program whole = make(seed, false, large), apart = make(seed, true, large, gpus);
    tg::test::servers all(tg::cluster{});
    all.members = three;
    for (const tg::task_devices& t : tg::devices_of(three)) {
      const std::size_t task = t.id.job == "ps" ? static_cast<std::size_t>(t.id.task) : 2;
      all.with.others = (gpus >> task & 1) != 0 ? &tg::fake_gpus() : nullptr;
      all.start(t.id, to_string(three.task_address(t.id.job, t.id.task)));
    }
    tg::session<tg::any_program> alone(whole, {.intra_op_threads = 1, .inter_op_threads = 1});
    tg::cluster_session session(all.network, three, {"worker", 0}, apart, all.client());
    for (tg::ir::node_id i = 0; i < apart.graph().size(); ++i) on_gpus += session.device_of(i).type.view() == "GPU";
    std::mt19937 random(seed + 1);
    const tg::extent rows = large ? 4000 : 3;
    tg::tensor<float> in({rows, width});
    tg::tensor<std::string_view> texts({rows});
    for (int run = 0; run < 4; ++run) {
      for (tg::extent i = 0; i < in.dims().elements(); ++i) in[i] = static_cast<float>(random() % 1000) * 0.002f - 1;
      const std::vector<float> other(in.data(), in.data() + in.size());
      for (tg::extent r = 0; r < rows; ++r) {
        const tg::extent from = (r * 7 + run) % rows * width;
        texts[r] = {reinterpret_cast<const char*>(other.data() + from), width * sizeof(float)};
      }
      std::vector<tg::output_name> wanted;
      for (const std::string& name : whole.outputs())
        if (random() % 3 != 0) wanted.emplace_back(name);
      if (wanted.empty()) wanted.emplace_back("y0");
      const std::vector<tg::named_feed> feeds{tg::feed_to("x", in), tg::feed_to("t", texts)};
      const auto expected = alone.run(wanted, feeds);
      const auto found = session.run(wanted, feeds);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        REQUIRE(found[i].type() == expected[i].type());
        if (expected[i].type() == dtype::none) continue;
        REQUIRE(found[i].dims() == expected[i].dims());
        if (found[i].type() == dtype::string) {
          const auto expects = expected[i].as<std::string_view>(), has = found[i].as<std::string_view>();
          REQUIRE(std::equal(has.begin(), has.end(), expects.begin(), expects.end()));
          continue;
        }
        REQUIRE(std::memcmp(found[i].view().data, expected[i].view().data, expected[i].view().bytes()) == 0);
      }
    }
  }
  CHECK(on_gpus > seeds);
}

}  // namespace
