// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/event.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("threads wait for an event until it happens, and no longer than they may") {
  for (int round = 0; round < 200; ++round) {
    tg::runtime::event e;
    CHECK(!e.happened());
    int value = 0;
    std::vector<int> seen(3);
    std::vector<std::thread> threads;
    for (int& s : seen)
      threads.emplace_back([&] {
        e.wait();
        s = value;
      });
    if (round % 4 == 0) std::this_thread::sleep_for(1ms);
    value = 7;
    e.set();
    for (std::thread& t : threads) t.join();
    CHECK(seen == std::vector<int>{7, 7, 7});
    CHECK(e.wait(tg::runtime::run_guard(tg::timeout(0ns))));
    e.clear();
    CHECK(!e.wait(tg::runtime::run_guard(tg::timeout(100us))));
  }
}
