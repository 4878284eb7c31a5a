// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Losses that are arranged, one at a time: each says in how much simulated time a run comes to its end, or whether a
/// graph is still known.

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/simulated/programs.hpp"
#include "tagma/cluster/service/worker.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/transport/simulated/world.hpp"
#include "transport/services.hpp"

namespace tagma::test {

/// A parameter server, a worker and a client, whose runs may take a minute.
struct village {
  static constexpr std::int64_t ms = 1'000'000, s = 1'000'000'000;

  /// @param servers beside one worker
  explicit village(int servers = 1) : shape{servers, 1} {
    for (int i = 0; i < servers; ++i) begin("ps", i);
    begin("worker");
  }
  village(const village&) = delete;
  village& operator=(const village&) = delete;
  ~village() {
    session.reset();
    do_at("client", [this] { other.reset(); });
    for (auto& each : workers) do_at(each.first, [&each] { each.second.reset(); });
    (void)world.comes([this] { return world.threads_alive() == 0; }, 100 * s);
  }

  void begin(const std::string& job, int task = 0) {
    const std::string name = job + std::to_string(task);
    service::worker_options o;
    o.link.self = {.job = job, .task = task, .role = "server", .cluster = "test", .incarnation = ++started};
    o.link.insecure = true;
    o.intra_op_threads = o.inter_op_threads = 1;
    workers[name] = std::make_unique<service::worker>(world.process(name), name + ":" + std::to_string(1 + task), o);
  }
  /// The process ends and is there again; nobody is told.
  void begin_again(const std::string& job, int task = 0) {
    const std::string name = job + std::to_string(task);
    transport::simulated::network& home = world.process(name);
    world.kill(name, true);
    home.start([w = std::shared_ptr<service::worker>(std::move(workers[name]))]() mutable { w.reset(); });
    begin(job, task);
  }
  /// Does something on a thread of a process. False if it does not come to its end.
  bool do_at(const std::string& name, const std::function<void()>& what) {
    bool done = false;
    world.process(name).start([&] {
      what();
      done = true;
    });
    return world.comes([&] { return done; }, 100 * s);
  }
  void connect(const any_program& program) {
    cluster_session_options o;
    o.link.self = {.job = "client", .role = "client", .cluster = "test", .incarnation = ++started};
    o.link.insecure = true;
    o.run_ns = 60 * s;
    REQUIRE(do_at("client", [&] {
      other = std::move(session);
      session = std::make_unique<cluster_session>(world.process("client"), cluster_of(shape), task_id{"worker", 0},
                                                  program, o);
    }));
  }
  /// What a run says, and how long it takes.
  struct outcome {
    std::string text{};
    std::int64_t ns = 0;
  };
  /// @param meanwhile called a while after the run has begun
  outcome run(const std::string& output, const std::vector<named_feed>& feeds = {},
              const std::function<void()>& meanwhile = {}) {
    outcome found;
    const std::int64_t begun = world.now();
    bool done = false;
    world.process("client").start([&] {
      try {
        (void)session->run({output_name(output.c_str())}, feeds);
      } catch (const error& e) {
        found.text = e.what();
      }
      done = true;
    });
    if (meanwhile) {
      world.run_for(200 * ms);
      meanwhile();
    }
    REQUIRE(world.comes([&] { return done; }, 100 * s));
    found.ns = world.now() - begun;
    return found;
  }

  town_shape shape;
  transport::simulated::world world{1};
  std::map<std::string, std::unique_ptr<service::worker>> workers{};
  std::unique_ptr<cluster_session> session{}, other{};
  std::uint64_t started = 0;
};

/// How long a run takes that waits for a tensor which was sent to the process that was there before.
[[nodiscard]] inline village::outcome run_whose_edge_is_lost() {
  village v;
  graph_builder b;
  const auto at = [&](const std::string& where, const auto& make) {
    const auto there = b.on(where);
    return make();
  };
  const graph_node more = at(scope_of("ps", 0), [&] {
    const graph_node count = b.variable("count", dtype::float32, {3}, zeros);
    return b.add("assign_add", {count, count});
  });
  const any_program sends = b.build({{"sent", at(scope_of("worker", 0), [&] { return b.add("negate", {more}); })}});
  v.connect(sends);
  REQUIRE(v.run("sent").text.empty());
  v.begin_again("worker");
  v.connect(sends);
  return v.run("sent");
}

/// The same where the server that sends has lost another process before, which has ended its own part of the run.
[[nodiscard]] inline village::outcome run_whose_edge_is_lost_second() {
  village v(2);
  graph_builder b;
  const auto negated = [&](const char* job, int task, const graph_node& of) {
    const auto there = b.on(scope_of(job, task));
    return b.add("negate", {of});
  };
  const graph_node count = [&] {
    const auto there = b.on(scope_of("ps", 0));
    return b.variable("count", dtype::float32, {3}, zeros);
  }();
  const any_program sends =
      b.build({{"at_worker", negated("worker", 0, count)}, {"at_server", negated("ps", 1, count)}});
  v.connect(sends);
  REQUIRE(v.run("at_worker").text.empty());
  REQUIRE(v.run("at_server").text.empty());
  v.begin_again("worker");
  v.world.run_for(500 * village::ms);
  v.begin_again("ps", 1);
  v.connect(sends);
  return v.run("at_server");
}

/// And one whose servers do not reach each other, while the client reaches both.
[[nodiscard]] inline village::outcome run_of_servers_that_are_parted() {
  village v;
  v.connect(counters({1, 1}));
  REQUIRE(v.run("add0").text.empty());
  v.world.part("ps0", "worker0");
  const village::outcome found = v.run("add0");
  v.world.join("ps0", "worker0");
  return found;
}

/// And one of which a part fails, while another waits for what that would have made.
[[nodiscard]] inline village::outcome run_that_fails() {
  village v;
  const auto ids = placeholder<"ids", int, 3>();
  const auto table = on<"/job:ps/task:0">(variable<"table", float, 5, 2>(ones));
  const auto rows = on<"/job:ps/task:0">(gather<0>(table, ids));
  v.connect(any_program(compile([=] { return outputs(on<"/job:worker/task:0">(sum(rows))); }), {"sum"}));
  tensor<int> bad({3});
  bad[1] = 7;
  return v.run("sum", {feed_to("ids", bad)});
}

/// A run whose connection breaks while it is under way.
[[nodiscard]] inline village::outcome run_through_a_cut() {
  village v;
  v.connect(counters({1, 1}));
  v.world.weather.delay_ns = 300 * village::ms;
  return v.run("add0", {}, [&] { v.world.cut("client", "ps0"); });
}

/// One of a client that has lost its connections before, and come back.
/// @param after_ns that
[[nodiscard]] inline village::outcome run_after_a_cut(std::int64_t after_ns) {
  village v;
  v.connect(counters({1, 1}));
  REQUIRE(v.run("add0").text.empty());
  v.world.cut("client", "ps0");
  v.world.cut("client", "worker0");
  v.world.run_for(after_ns);
  return v.run("add0");
}

/// What a session says that goes on with a server which was started anew, after it was told so.
[[nodiscard]] inline village::outcome run_on_a_new_server() {
  village v;
  v.connect(counters({1, 1}));
  REQUIRE(v.run("add0").text.empty());
  v.begin_again("ps");
  (void)v.run("add0");
  return v.run("add0");
}

/// One of a session whose container was reset.
[[nodiscard]] inline village::outcome run_after_a_reset() {
  village v;
  v.connect(counters({1, 1}));
  REQUIRE(v.run("add0").text.empty());
  transport::options how;
  how.self = {.job = "client", .role = "client", .cluster = "test", .incarnation = 99};
  how.insecure = true;
  const auto out = std::make_shared<service::outlet>(v.world.process("client"), "ps0:1", how, task_id{"ps", 0},
                                                     5 * village::s, service::loss());
  transport::test::asked call;
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(service::message::reset_container);
  out->ask(std::move(m), 20 * village::s, call);
  REQUIRE(v.world.comes([&] { return call.ends() == 1; }, 60 * village::s));
  out->close();
  return v.run("add0");
}

/// What a server says of a graph that a client has given it, when the client is gone or has said that it may go.
[[nodiscard]] inline std::string run_of_graph_that_went(bool by_word) {
  village v;
  graph_builder b;
  const any_program program = b.build({{"y", b.add("negate", {b.variable("v", dtype::float32, {2}, zeros)})}});
  transport::options how;
  how.self = {.job = "client", .role = "client", .cluster = "test", .incarnation = 99};
  how.insecure = true;
  transport::simulated::network& home = v.world.process("client");
  const auto connect = [&] {
    return std::make_shared<service::outlet>(home, "ps0:1", how, task_id{"ps", 0}, 5 * village::s, service::loss());
  };
  const auto ask = [&](service::outlet& to, service::message kind, std::string body, const std::string& bulk = {}) {
    transport::test::asked call;
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(kind);
    m.body = std::move(body);
    service::detail::keep_bulk(m, std::make_shared<const std::string>(bulk));
    to.ask(std::move(m), 20 * village::s, call);
    REQUIRE(v.world.comes([&] { return call.ends() == 1; }, 60 * village::s));
    return call.what();
  };
  const auto first = connect(), second = connect();
  const service::add_part part{5, 0, {}, {}, isolation::variables, 1, {{{"ps", 0}, "ps0:1"}}, 0};
  const std::string run = service::run_part{.graph = 5, .step = 0, .outputs = {0}, .feeds = {}}.body();
  REQUIRE(ask(*first, service::message::add_part, part.body(), write_program(program)).empty());
  REQUIRE(ask(*second, service::message::run_part, run).empty());
  if (by_word) {
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(service::message::forget_graph);
    m.body = service::edge_of_run{5, 0, 0, {}}.body();
    first->post(std::move(m));
  } else {
    first->close();
    second->close();
  }
  v.world.run_for((by_word ? 5 : 70) * village::s);  // a minute is how long it may come back
  const auto third = connect();
  const std::string text = ask(*third, service::message::run_part,
                               service::run_part{.graph = 5, .step = 1, .outputs = {0}, .feeds = {}}.body());
  for (const auto& each : {first, second, third}) each->close();
  v.world.run_for(village::s);
  return text;
}

}  // namespace tagma::test
