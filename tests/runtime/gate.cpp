// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/gate.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::runtime::gate, tg::runtime::run_guard;

TEST_CASE("readers pass together, a writer alone") {
  gate g;
  const run_guard none(tg::run_limits{});
  g.enter(false, none);
  g.enter(false, none);  // would hang if readers excluded one another
  CHECK_THROWS_WITH(g.enter(true, run_guard(tg::timeout(5ms))),
                    "DeadlineExceeded: the run took longer than its timeout of 5 ms while it waited for the "
                    "variables that it updates");
  g.leave(false);
  g.leave(false);
  g.enter(true, none);
  CHECK_THROWS_AS(g.enter(true, run_guard(tg::timeout(5ms))), tg::error);
  CHECK_THROWS_WITH(g.enter(false, run_guard(tg::timeout(5ms))),
                    Catch::EndsWith("while it waited for the variables that it reads"));
  g.leave(true);
  CHECK_NOTHROW(g.enter(false, run_guard(tg::timeout(1h))));  // a writer that gave up holds nobody
  g.leave(false);
}

TEST_CASE("who waits at the gate can be cancelled") {
  gate g;
  g.enter(true, run_guard(tg::run_limits{}));
  tg::cancellation stop;
  tg::status_code code = tg::status_code::ok;
  std::thread waiting([&] {
    try {
      g.enter(false, run_guard(tg::stop_with(stop)));
    } catch (const tg::error& e) {
      code = e.code();
    }
  });
  stop.cancel();
  waiting.join();
  CHECK(code == tg::status_code::cancelled);
  g.leave(true);
}

TEST_CASE("updates from many threads do not meet") {
  gate g;
  int value = 0;  // not atomic: the gate is what orders its changes
  std::vector<std::thread> pool;
  for (int t = 0; t < 4; ++t)
    pool.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const run_guard none(tg::run_limits{});
        g.enter(true, none);
        ++value;
        g.leave(true);
        g.enter(false, none);
        const volatile int seen = value;
        (void)seen;
        g.leave(false);
      }
    });
  for (std::thread& t : pool) t.join();
  CHECK(value == 2000);
}

}  // namespace
