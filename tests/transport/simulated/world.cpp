// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/simulated/world.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "transport/services.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

/// A worker that is connected to a server which echoes.
struct town {
  explicit town(std::uint64_t seed = 1) : world(seed) {
    listen();
    l = world.process("worker").connect("ps", task("worker"), at_worker, 10 * s);
    REQUIRE(world.comes([&] { return at_worker->has("connected"); }, s));
  }
  void listen() {
    world.process("ps").listen("ps", task("ps"), [this] {
      at_ps.push_back(std::make_shared<service>());
      at_ps.back()->receives = echo;
      return at_ps.back();
    });
  }
  simulated::world world;
  std::shared_ptr<service> at_worker = std::make_shared<service>();
  std::vector<std::shared_ptr<service>> at_ps{};
  std::shared_ptr<transport::link> l;
};

}  // namespace

TEST_CASE("a world takes its time, and that alone") {
  town t;
  t.world.weather.delay_ns = 10 * ms;
  const std::int64_t begin = t.world.now();
  asked call;
  REQUIRE(t.l->start({.kind = 1}, s, call));
  REQUIRE(t.world.comes([&] { return call.ends() == 1; }, s));
  CHECK(t.world.now() - begin == 20 * ms);
}

TEST_CASE("a world has its bandwidth") {
  town t;
  t.world.weather.bytes_per_second = 10'000'000;
  const std::vector<std::byte> bulk = pattern(1'000'000);
  const std::int64_t begin = t.world.now();
  REQUIRE(t.l->send({.kind = 1, .bulk = bulk}));
  REQUIRE(t.world.comes([&] { return t.at_ps[0]->size() == 1; }, 10 * s));
  CHECK(t.world.now() - begin > 100 * ms);
  CHECK(t.world.now() - begin < 150 * ms);
}

TEST_CASE("a cut is seen by both ends, and ends calls") {
  town t;
  asked call;
  REQUIRE(t.l->start({.kind = 1}, 60 * s, call));
  t.world.cut("ps", "worker");
  t.world.run_for(ms);
  CHECK_THAT(t.at_worker->last(), Contains("Unavailable: /job:ps/task:0 was lost: the connection was reset"));
  CHECK_THAT(t.at_ps[0]->last(), Contains("/job:worker/task:0 was lost"));
  CHECK_THAT(call.what(), Contains("Unavailable"));
}

TEST_CASE("processes that are parted for a while keep what was on its way") {
  town t;
  t.world.part("worker", "ps");
  asked call;
  REQUIRE(t.l->start({.kind = 1, .body = "?"}, 60 * s, call));
  t.world.run_for(2 * s);
  CHECK(call.ends() == 0);
  t.world.join("worker", "ps");
  REQUIRE(t.world.comes([&] { return call.ends() == 1; }, s));
  CHECK(call.body() == "?");
}

TEST_CASE("processes that are parted for long lose each other") {
  town t;
  t.world.part("worker", "ps");
  t.world.run_for(5 * s);
  CHECK_THAT(t.at_worker->last(), Contains("/job:ps/task:0 was lost: nothing came for 3."));
  CHECK_THAT(t.at_ps[0]->last(), Contains("/job:worker/task:0 was lost: nothing came for 3."));
}

TEST_CASE("a process that stops is lost, and loses nobody when it goes on") {
  town t;
  t.world.stop("ps", 2 * s);
  t.world.run_for(10 * s);
  CHECK(t.at_worker->last() == "connected");
  CHECK(t.at_ps[0]->last() == "connected");
  t.world.stop("ps", 60 * s);
  t.world.run_for(10 * s);
  CHECK_THAT(t.at_worker->last(), Contains("nothing came for 3.0 s"));
}

TEST_CASE("a process that ends is seen, at once or by its silence, and can be found again") {
  for (const bool silently : {false, true}) {
    town t;
    const std::int64_t begin = t.world.now();
    t.world.restart("ps", silently);
    t.listen();
    REQUIRE(t.world.comes([&] { return t.at_worker->has("lost"); }, 10 * s));
    CHECK((t.world.now() - begin > s) == silently);
    CHECK(t.at_ps[0]->last() == "connected");  // who is no more is told nothing
    const auto again = std::make_shared<service>();
    const auto l = t.world.process("worker").connect("ps", task("worker"), again, 10 * s);
    CHECK(t.world.comes([&] { return again->has("connected"); }, s));
    CHECK(t.at_ps.size() == 2);
  }
}

TEST_CASE("what a process has put off is gone when it ends, and waits while it stops") {
  simulated::world world(1);
  std::vector<std::string> done;
  world.process("a").after(s, [&] { done.emplace_back("a"); });
  world.process("b").after(s, [&] { done.emplace_back("b"); });
  world.restart("a", false);
  world.stop("b", 3 * s);
  world.run_for(2 * s);
  CHECK(done.empty());
  world.run_for(2 * s);
  CHECK(done == std::vector<std::string>{"b"});
}

TEST_CASE("clocks of processes differ") {
  town t;
  t.world.advance_clock("ps", 7 * s);
  CHECK(t.world.process("ps").now() == t.world.now() + 7 * s);
  t.world.run_for(20 * s);
  // The jump looks like a long silence, which whoever sees it knows for its own.
  CHECK(t.at_worker->last() == "connected");
  CHECK(t.at_ps[0]->last() == "connected");
  CHECK(t.l->counters().clock_offset_ns > 6 * s);
}

TEST_CASE("equal numbers make equal worlds, and other numbers others") {
  const auto history = [](std::uint64_t seed) {
    town t(seed);
    t.world.weather = {ms, 10 * ms, 1'000'000, 5000, true};
    const std::vector<std::byte> bulk = pattern(50'000);
    for (int i = 0; i < 5; ++i) REQUIRE(t.l->send({.kind = 1, .bulk = bulk}));
    t.world.run_for(s);
    return t.world.history();
  };
  CHECK(history(1) == history(1));
  CHECK(history(2) == history(2));
  CHECK(history(1) != history(2));
}

}  // namespace tagma::transport::test
