// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/simulated/threads.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/simulated/world.hpp"

namespace tagma::transport::test {

using runtime::now_ns;
using runtime::wait_word;

namespace {

constexpr std::int64_t ms = 1'000'000, s = 1'000'000'000;

}  // namespace

TEST_CASE("a thread of a world sleeps in the time of the world, by the clock of its process") {
  simulated::world world(1);
  world.advance_clock("a", 5 * s);
  std::int64_t begun = 0, ended = 0;
  world.process("a").start([&] {
    wait_word nobody;
    begun = now_ns();
    nobody.sleep_until(0, begun + 3600 * s);
    ended = now_ns();
  });
  CHECK(world.threads_alive() == 1);
  REQUIRE(world.comes([&] { return ended != 0; }, 4000 * s));
  CHECK(begun == 5 * s);
  CHECK(ended == begun + 3600 * s);
  CHECK(world.threads_alive() == 0);
}

TEST_CASE("as many threads go on as are woken, which ones is drawn, and again the same for the same number") {
  const auto woken = [](std::uint64_t seed) {
    simulated::world world(seed);
    world.weather.turn_ns = ms;
    wait_word word;
    std::vector<int> order;
    for (int i = 0; i < 6; ++i)
      world.process("a").start([&, i] {
        word.sleep_until(0, wait_word::never);
        order.push_back(i);
      });
    world.run_for(10 * ms);
    world.process("a").after(0, [&] { word.change(false); });
    world.run_for(10 * ms);
    CHECK(order.size() == 1);
    world.process("b").start([&] { word.wake(2); });
    world.run_for(10 * ms);
    CHECK(order.size() == 3);
    world.process("b").start([&] { word.change(true); });
    world.run_for(10 * ms);
    CHECK(order.size() == 6);
    return std::pair(order, world.history());
  };
  CHECK(woken(1) == woken(1));
  CHECK(woken(1).first != woken(2).first);
}

TEST_CASE("a wake that is forgotten is never made up for") {
  simulated::world world(1);
  wait_word word;
  bool gone_on = false;
  world.process("a").start([&] {
    word.wait(0);
    gone_on = true;
  });
  world.run_for(ms);
  word.change_awake();
  world.run_for(1000 * s);
  CHECK(!gone_on);
  world.process("a").after(0, [&] { word.wake(1); });
  world.run_for(ms);
  CHECK(gone_on);
}

TEST_CASE("threads of a process that stops wait until it goes on") {
  simulated::world world(1);
  std::int64_t when = 0;
  world.process("a").start([&] { when = now_ns(); });
  world.stop("a", 3 * s);
  world.run_for(10 * s);
  CHECK(when == 3 * s);
}

TEST_CASE("a thread may be stopped where it takes a lock, and others go on meanwhile") {
  simulated::world world(1);
  world.weather.passes = 2;
  std::string order;
  for (const char who : {'a', 'b'})
    world.process("p").start([&, who] {
      for (int i = 0; i < 20; ++i) {
        runtime::turns_here->pass();
        order += who;
      }
    });
  world.run_for(ms);
  CHECK(order.size() == 40);
  CHECK(order.find("ab") != std::string::npos);
  CHECK(order.find("ba") != std::string::npos);
}

TEST_CASE("a handler that waits says so") {
  simulated::world world(1);
  std::string text;
  world.process("a").after(0, [&] {
    text = tagma::test::text_of([&] {
      wait_word word;
      word.wait(0);
    });
  });
  world.run_for(ms);
  CHECK_THAT(text, Catch::Matchers::Contains("Internal: a handler waits"));
}

TEST_CASE("what a process that was killed still does reaches nobody") {
  simulated::world world(1);
  simulated::network& first = world.process("a");
  options how;
  how.insecure = true;
  bool went_on = false, came = false;
  first.start([&] {
    wait_word nobody;
    nobody.sleep_until(0, now_ns() + s);
    (void)tagma::test::text_of([&] { (void)first.listen("x", how, [] { return nullptr; }); });
    first.stop_listening("a:1");
    first.after(0, [&] { came = true; });  // a thread may wait for it, and shall end
    went_on = true;
  });
  world.run_for(ms);
  world.kill("a", true);
  CHECK(!first.is_alive());
  CHECK(world.process("a").is_alive());
  CHECK(world.process("a").listen("a:1", how, [] { return nullptr; }) == "a:1");
  world.run_for(10 * s);
  CHECK(went_on);
  CHECK(came);
  CHECK_THAT(tagma::test::text_of([&] { (void)world.process("a").listen("a:1", how, [] { return nullptr; }); }),
             Catch::Matchers::Contains("somebody listens at a:1 already"));
  CHECK(world.process("a").listen("x", how, [] { return nullptr; }) == "x");
}

}  // namespace tagma::transport::test
