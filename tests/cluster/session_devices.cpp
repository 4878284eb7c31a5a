// SPDX-License-Identifier: BSL-1.0
// Servers with devices besides CPUs: fake GPUs, of which each has two. Kernels are those of the CPU, so results have
// the bytes of one session without devices.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/any_tensors.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/fake_gpu_programs.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dyn;
using tg::feed_to;
using tg::test::same_bytes;
using tg::test::servers;
using tg::test::some;

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
constexpr auto y = tg::placeholder<"y", float, dyn, 3>();

const tg::cluster two_and_one({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});

/// Those of some jobs have GPUs.
struct mixed_servers : servers {
  explicit mixed_servers(std::string_view with_gpus, const std::string& checkpoints = "") : servers(tg::cluster{}) {
    members = two_and_one;
    with.checkpoints = checkpoints;
    for (const tg::task_devices& t : tg::devices_of(members))
      start_one(t.id, with_gpus.find(t.id.job) < with_gpus.size());
  }
  void start_one(const tg::task_id& id, bool gpus) {
    with.others = gpus ? &tg::fake_gpus() : nullptr;
    start(id, to_string(members.task_address(id.job, id.task)));
  }
  template <class Report>
  Report ask(const tg::task_id& whom, tg::service::message kind, std::string body = "") {
    tg::service::inquiry asks(network, client().link, 10'000'000'000);
    const tg::service::inquiry_answer a =
        asks.ask({{whom, to_string(members.task_address(whom.job, whom.task))}, kind, body});
    return Report::read(a.bulk_text());
  }
};

auto model() {
  const auto hidden = tg::dropout(tg::dense<"hidden", 16>(x, tg::relu), 0.25);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(hidden) - y));
  return tg::outputs(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}));
}
tg::any_program here() {
  return tg::any_program(tg::compile([] { return model(); }), {"loss", "train"});
}
/// Variables on parameter servers by turns, all else on a worker.
tg::any_program network() {
  return tg::any_program(tg::compile([] { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(model()); }),
                         {"loss", "train"});
}
/// Names of the devices that a session has nodes on, in order, once each.
std::vector<std::string> devices_in(const tg::cluster_session& session, const tg::any_program& p) {
  std::vector<std::string> all;
  for (tg::ir::node_id i = 0; i < p.graph().size(); ++i) all.push_back(to_string(session.device_of(i)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

TEST_CASE("a model that is trained on GPUs of servers is the model that is trained here") {
  const std::string_view with_gpus = GENERATE("worker", "ps", "ps worker");
  INFO("GPUs on " << with_gpus);
  mixed_servers all(with_gpus);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::session<tg::any_program> alone(here(), {.intra_op_threads = 1, .inter_op_threads = 1});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, network(), all.client());
  const std::vector<std::string> devices = devices_in(session, network());
  const auto has = [&](const char* name) { return std::find(devices.begin(), devices.end(), name) != devices.end(); };
  CHECK(has("/job:worker/replica:0/task:0/device:GPU:0") == (with_gpus != "ps"));
  CHECK(has("/job:ps/replica:0/task:1/device:GPU:0") == (with_gpus != "worker"));
  for (int step = 0; step < 6; ++step) {
    const tg::extent rows = step == 3 ? 1 : 7;
    const auto in = some({rows, 8}, step), out = some({rows, 3}, step + 9);
    const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
    const auto expected = alone.run(std::vector<tg::output_name>{"loss", "train"}, feeds);
    const auto found = session.run({"loss", "train"}, feeds);
    REQUIRE(same_bytes(found[0], expected[0]));
  }
}

TEST_CASE("what asks for nothing is on a GPU, wherever that is") {
  mixed_servers all("ps");
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::exp(x)); }), {"y"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
  CHECK(devices_in(session, p) == std::vector<std::string>{"/job:ps/replica:0/task:0/device:GPU:0"});
  const auto in = some({2, 8}, 1);
  CHECK(session.run("y", feed_to("x", in)).dims() == in.dims());
}

TEST_CASE("a device of a server that is not there is an error, or another one where that is allowed") {
  mixed_servers all("worker");
  const auto soft = GENERATE(false, true);
  const auto there = GENERATE(0, 1);  // no GPU at all, and no third one
  const auto of = [&](auto program) { return tg::any_program(program, {"y"}); };
  const auto no_gpu = [] { return tg::outputs(tg::on<"/job:ps/task:1/device:GPU:0">(tg::exp(x))); };
  const auto no_third = [] { return tg::outputs(tg::on<"/job:worker/task:0/device:GPU:2">(tg::exp(x))); };
  const tg::any_program p = there == 0 ? soft ? of(tg::compile(no_gpu, tg::soft_placement)) : of(tg::compile(no_gpu))
                            : soft ? of(tg::compile(no_third, tg::soft_placement))
                                       : of(tg::compile(no_third));
  const auto make = [&] {
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
    const auto in = some({2, 8}, 1);
    (void)session.run("y", feed_to("x", in));
    return devices_in(session, p);
  };
  if (soft) {
    const std::vector<std::string> devices = make();
    CHECK(devices.back() ==
          (there == 0 ? "/job:ps/replica:0/task:1/device:CPU:0" : "/job:worker/replica:0/task:0/device:GPU:0"));
    return;
  }
  const tg::error e = tg::test::thrown(make);
  CHECK(e.code() == tg::status_code::invalid_argument);
  const std::string_view asked = there == 0 ? "/job:ps/task:1/device:GPU:0" : "/job:worker/task:0/device:GPU:2";
  INFO(e.what());
  CHECK(std::string_view(e.what()).find(asked) != std::string_view::npos);
}

TEST_CASE("texts, queues and other tasks are served by the CPU of a server with GPUs") {
  mixed_servers all("ps worker");
  const tg::any_program p(tg::compile([] {
                            constexpr tg::queue_of<"q", tg::queue_options{.capacity = 4}, tg::spec<float>> q;
                            const auto doubled = tg::on<"/job:worker/task:0">(tg::placeholder<"one", float>() * 2.0f);
                            const auto taken = tg::on<"/job:ps/task:0">(tg::dequeue(q));
                            return tg::outputs(tg::on<"/job:ps/task:0">(tg::enqueue(q, doubled)),
                                               tg::on<"/job:worker/task:0">(taken + 1.0f));
                          }),
                          {"put", "taken"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
  const float three = 3;
  session.run("put", feed_to("one", three));
  CHECK(session.run("taken").as<float>()[0] == 7);
}

TEST_CASE("servers tell what devices they have, what is there, and who has a variable") {
  mixed_servers all("ps");
  using tg::service::message;
  const auto offer = all.ask<tg::service::device_offers>({"ps", 0}, message::list_devices);
  REQUIRE(offer.others.size() == 1);
  CHECK(offer.others[0].type == "GPU");
  CHECK(offer.others[0].count == 2);
  const auto has_kernel = [&](std::string_view name) {
    const auto& all_of_them = offer.others[0].operations;
    return std::find(all_of_them.begin(), all_of_them.end(), name) != all_of_them.end();
  };
  CHECK(has_kernel("matmul"));
  CHECK_FALSE(has_kernel("send"));
  CHECK_FALSE(has_kernel("variable"));
  CHECK(all.ask<tg::service::device_offers>({"worker", 0}, message::list_devices).others.empty());
  const auto untouched = all.ask<tg::service::server_status>({"ps", 1}, message::status).devices;
  REQUIRE(untouched.size() == 3);
  CHECK(untouched[2].name == "/job:ps/replica:0/task:1/device:GPU:1");
  const tg::any_program p(tg::compile([] {
                            const auto w = tg::on<"/job:ps/task:1/device:GPU:1">(tg::variable<"w", float, 6>(tg::ones));
                            return tg::outputs(tg::assign_add(w, w));
                          }),
                          {"more"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
  session.run("more");
  const auto devices = all.ask<tg::service::server_status>({"ps", 1}, message::status).devices;
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].variable_bytes == 0);
  CHECK(devices[1].variable_bytes == 0);
  CHECK(devices[2].variable_bytes == 24);
  CHECK(devices[2].used_bytes >= 24);
  CHECK(devices[2].limit_bytes > devices[2].used_bytes);
  const auto variables = all.ask<tg::service::variable_list>({"ps", 1}, message::list_variables).variables;
  REQUIRE(variables.size() == 1);
  CHECK(variables[0].device_type == "GPU");
  CHECK(variables[0].device == 1);
  tg::service::inquiry asks(all.network, all.client().link, 10'000'000'000);
  const auto value =
      asks.ask({{{"ps", 1}, "b:1"}, message::read_variable, tg::service::read_variable{"", "w", true}.body()});
  CHECK(tg::service::variable_value::read(value.body).norms.l1 == 12);
  CHECK(reinterpret_cast<const float*>(value.bulk.data())[5] == 2);
  // Another program asks for another place, and gets what there is.
  const tg::any_program other(tg::compile([] {
                                const auto w =
                                    tg::on<"/job:ps/task:0/device:CPU:0">(tg::variable<"w", float, 6>(tg::zeros));
                                return tg::outputs(w * 10.0f);
                              }),
                              {"ten_times"});
  tg::cluster_session reads(all.network, two_and_one, {"worker", 0}, other, all.client());
  CHECK(reads.run("ten_times").as<float>()[5] == 20);
}

TEST_CASE("variables of GPUs are saved and restored, on servers with other devices too") {
  const tg::test::temporary_directory folder;
  const auto in = some({7, 8}, 1), out = some({7, 3}, 2);
  const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
  tg::any_tensor expected;
  {
    mixed_servers all("ps worker", folder.path.string());
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, network(), all.client());
    for (int i = 0; i < 4; ++i) session.run({"train"}, feeds);
    CHECK(session.save("model-4").variables > 4);
    expected = session.run("loss", feeds);
    for (int i = 0; i < 2; ++i) session.run({"train"}, feeds);
    CHECK(session.restore("model-4").name == "model-4");
  }
  const std::string_view with_gpus = GENERATE("", "worker", "ps worker");
  mixed_servers all(with_gpus, folder.path.string());
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, network(), all.client());
  session.restore("model-*");
  const auto first = session.run({"loss"}, feeds);
  CHECK(first[0].dims() == expected.dims());
}

TEST_CASE("a server that saves by itself begins with its variables where they were") {
  const tg::test::temporary_directory folder;
  const auto program = [] {
    return tg::any_program(
        tg::compile([] {
          const auto w = tg::on<"/job:ps/task:0/device:GPU:1">(tg::variable<"w", float, 6>(tg::ones));
          const auto v = tg::on<"/job:ps/task:0/device:CPU:0">(tg::variable<"v", float, 2>(tg::ones));
          return tg::outputs(tg::assign_add(w, w), tg::assign_add(v, v), w * 1.0f);
        }),
        {"more", "more_v", "w"});
  };
  using tg::service::message;
  const bool has_gpus_again = GENERATE(true, false);
  {
    mixed_servers all("ps", folder.path.string());
    all.with.checkpoint_every_ns = 20'000'000;
    all.workers.erase({"ps", 0});
    all.start_one({"ps", 0}, true);
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program(), all.client());
    session.run(std::vector<tg::output_name>{"more", "more_v"});
    for (int i = 0; i < 1000 && std::filesystem::is_empty(folder.path); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  mixed_servers all("", folder.path.string());
  all.with.checkpoint_every_ns = 60'000'000'000;
  all.workers.erase({"ps", 0});
  all.start_one({"ps", 0}, has_gpus_again);
  for (const auto& v : all.ask<tg::service::variable_list>({"ps", 0}, message::list_variables).variables) {
    INFO(v.name);
    CHECK(v.device_type == (v.name == "w" && has_gpus_again ? "GPU" : "CPU"));
    CHECK(v.device == (v.name == "w" && has_gpus_again ? 1 : 0));
  }
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program(), all.client());
  CHECK(session.run("w").as<float>()[0] == 2);
}

/// What is iterated and what branches, with a variable, on what a template says.
template <class Where>
tg::any_program loops(Where where) {
  return tg::any_program(tg::compile([=] {
                           constexpr auto in = tg::placeholder<"in", float, 4, 8>();
                           constexpr auto start = tg::placeholder<"start", float, 8>();
                           constexpr auto yes = tg::placeholder<"yes", bool>();
                           const auto w = tg::variable<"w", float, 8, 8>(tg::glorot_uniform);
                           const auto [h, rows] = tg::scan(tg::carry(start), tg::over(in), [=](auto state, auto row) {
                             const auto next = tg::tanh(tg::reshape<8>(tg::matmul(tg::reshape<1, 8>(state), w)) + row);
                             return tg::next(next).emit(next);
                           });
                           const auto either = tg::cond(
                               yes, [](auto v) { return tg::tanh(v) * 2.0f; }, [](auto v) { return v * 3.0f; }, in);
                           const auto loss = tg::mean(tg::square(rows)) + tg::mean(h) + tg::mean(either);
                           return where(tg::outputs(loss, tg::minimize(loss, tg::sgd{.learning_rate = 0.1})));
                         }),
                         {"loss", "train"});
}

TEST_CASE("loops and branches run where most of them is, wherever there are GPUs") {
  const std::string_view with_gpus = GENERATE("", "worker", "ps", "ps worker");
  INFO("GPUs on " << with_gpus);
  const tg::any_program alone = loops([](auto all) { return all; });
  const tg::any_program apart[] = {
      alone, loops([](auto all) { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(all); }),
      loops([](auto all) { return tg::on<"/job:worker/task:0">(all); }),
      loops([](auto all) { return tg::on<"/job:ps/task:1">(all); })};
  const auto in = some({4, 8}, 3), start = some({8}, 4);
  for (const tg::any_program& p : apart) {
    mixed_servers all(with_gpus);
    tg::session<tg::any_program> here(alone, {.intra_op_threads = 1, .inter_op_threads = 1});
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
    for (int step = 0; step < 3; ++step) {
      const bool yes = step != 1;
      const std::vector<tg::named_feed> feeds{feed_to("in", in), feed_to("start", start), feed_to("yes", yes)};
      const auto expected = here.run(std::vector<tg::output_name>{"loss", "train"}, feeds);
      const auto found = session.run({"loss", "train"}, feeds);
      REQUIRE(same_bytes(found[0], expected[0]));
    }
  }
}

TEST_CASE("a server that comes back without its GPUs is another one") {
  mixed_servers all("ps");
  const tg::any_program p(tg::compile([] {
                            return tg::outputs(tg::on<"/job:ps/task:1/device:GPU:0">(tg::exp(x)),
                                               tg::on<"/job:ps/task:1">(tg::exp(x)));
                          }),
                          {"y", "z"});
  const auto in = some({2, 8}, 1);
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, p, all.client());
  (void)session.run("z", feed_to("x", in));
  all.workers.erase({"ps", 1});
  all.start_one({"ps", 1}, false);
  const tg::error e = tg::test::thrown([&] { (void)session.run("z", feed_to("x", in)); });
  INFO(e.what());
  CHECK(e.code() == tg::status_code::aborted);
  CHECK(std::string_view(e.what()).find("a new session places anew") != std::string_view::npos);
}

TEST_CASE("a program is placed on as many devices as the placer counts") {
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::exp(x)); }), {"y"});
  std::vector<tg::task_devices> all;
  for (int t = 0; t < 33; ++t) all.push_back({{"worker", t}, 1, {{"GPU", 1000, {"exp"}}}});
  CHECK(tg::test::text_of([&] {
          const tg::cluster_site site(p, all, {"worker", 0});
        }).find("InvalidArgument: 33 tasks") == 0);
  all.pop_back();
  const tg::cluster_site site(p, all, {"worker", 31});
  CHECK(site.device_of(p.graph().roots[0]).task == 31);
}

TEST_CASE("a program is not placed where some of its tasks lack the kernel") {
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::exp(x), tg::tanh(x)); }), {"y", "z"});
  std::vector<tg::task_devices> all = tg::devices_of(two_and_one);
  all[0].others = {{"GPU", 1, {"tanh", "exp"}}};  // in any order
  all[1].others = {{"GPU", 1, {"exp"}}};
  const tg::cluster_site site(p, all, {"worker", 0});
  const tg::ir::graph_view g = p.graph();
  for (tg::ir::node_id i = 0; i < g.size(); ++i) {
    if (g.info(i).name == "exp") CHECK(site.device_of(i).type.view() == "GPU");
    if (g.info(i).name == "tanh") CHECK(site.device_of(i).type.view() == "CPU");
  }
}

}  // namespace
