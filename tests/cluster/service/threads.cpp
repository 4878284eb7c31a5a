// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/threads.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "tagma/cluster/service/crew.hpp"
#include "tagma/transport/simulated/world.hpp"

namespace tagma::service {

namespace {

/// Numbers that went from one thread to another, one at a time.
std::vector<int> handed_over() {
  mutex m;
  condition changed;
  int there = 0;
  std::vector<int> got;
  thread giver([&] {
    for (int i = 1; i <= 100; ++i) {
      std::unique_lock<mutex> lock(m);
      while (there != 0) changed.wait(lock);
      there = i;
      changed.notify_all();
    }
  });
  for (int i = 1; i <= 100; ++i) {
    std::unique_lock<mutex> lock(m);
    while (there == 0) changed.wait(lock);
    got.push_back(there);
    there = 0;
    changed.notify_all();
  }
  giver.join();
  return got;
}

void check(const std::vector<int>& got) {
  REQUIRE(got.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(got[static_cast<std::size_t>(i)] == i + 1);
}

}  // namespace

TEST_CASE("threads of services hand over what they have, with a system and in a world that is simulated") {
  check(handed_over());
  transport::simulated::world world(1);
  world.weather.passes = 3;
  std::vector<int> got;
  world.process("a").start([&] { got = handed_over(); });
  world.run_for(1'000'000'000);
  check(got);
  CHECK(world.threads_alive() == 0);
}

TEST_CASE("a wait has its end") {
  mutex m;
  condition changed;
  std::unique_lock<mutex> lock(m);
  const std::int64_t begun = runtime::now_ns();
  changed.wait_for(lock, 1'000'000);
  CHECK(runtime::now_ns() - begun >= 1'000'000);
}

TEST_CASE("numbers are drawn, by a world that has one") {
  CHECK(draw_number() != draw_number());
  const auto of_world = [] {
    transport::simulated::world world(7);
    std::uint64_t n = 0;
    world.process("a").start([&] { n = draw_number(); });
    world.run_for(1);
    return n;
  };
  CHECK(of_world() == of_world());
}

TEST_CASE("a crew in a world has the threads of the process, and ends with all done") {
  transport::simulated::world world(3);
  world.weather.turn_ns = 1'000'000;
  int done = 0;
  transport::simulated::network& home = world.process("a");
  home.start([&] {
    auto all = std::make_unique<crew>(std::size_t{3});
    for (int i = 0; i < 20; ++i)
      CHECK(all->add([&] {
        runtime::wait_word nobody;
        nobody.sleep_until(0, home.now() + 1'000'000'000);
        ++done;
      }));
    all->finish();
    CHECK(!all->add([] {}));
  });
  world.run_for(5'000'000'000);
  CHECK(done == 12);
  world.run_for(5'000'000'000);
  CHECK(done == 20);
  CHECK(world.threads_alive() == 0);
}

}  // namespace tagma::service
