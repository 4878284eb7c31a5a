// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/gate.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "support/comes.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::runtime::gate, tg::runtime::run_guard;
using tg::test::comes;

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

/// Somebody who can be told to stop, and who notes when the gate looks at that: on the way to sleep, and after it.
struct visitor {
  tg::cancellation stop;
  std::atomic<int> looks{0};
  gate* opens = nullptr;  ///< which a writer leaves at the first look
  std::int64_t timeout_ns = 0;
  std::atomic<bool> inside{false}, refused{false};

  [[nodiscard]] tg::run_limits limits() const {
    tg::run_limits l;
    l.timeout_ns = timeout_ns;
    l.stop.token = this;
    l.stop.wakes = &stop;  // so nobody looks now and then
    l.stop.requested = [](const void* token) {
      auto& self = *static_cast<visitor*>(const_cast<void*>(token));
      if (self.looks.fetch_add(1) == 0 && self.opens != nullptr) self.opens->leave(true);
      return self.stop.stop_requested();
    };
    return l;
  }
  /// A thread that goes in.
  [[nodiscard]] std::thread enter(gate& g, bool exclusive) {
    return std::thread([this, &g, exclusive] {
      try {
        g.enter(exclusive, run_guard(limits()));
        inside = true;
      } catch (const tg::error&) {
        refused = true;
      }
    });
  }
};

TEST_CASE("a gate that opens while somebody is on the way to sleep is not missed") {
  for (const bool exclusive : {false, true}) {
    gate g;
    g.enter(true, run_guard(tg::run_limits{}));
    visitor v;
    v.opens = &g;
    std::thread entering = v.enter(g, exclusive);
    const bool in_time = comes([&] { return v.inside.load(); });
    if (!in_time) v.stop.cancel();  // wakes it
    entering.join();
    REQUIRE(in_time);
    if (v.inside) g.leave(exclusive);
  }
}

TEST_CASE("readers wait behind a writer that waits, and go on when it gives up") {
  gate g;
  g.enter(false, run_guard(tg::run_limits{}));
  visitor writer, reader;
  std::thread writing = writer.enter(g, true);
  CHECK(comes([&] { return writer.looks > 0; }));
  std::thread reading = reader.enter(g, false);
  CHECK(comes([&] { return reader.looks > 0 || reader.inside; }));
  CHECK_FALSE(reader.inside);
  std::this_thread::sleep_for(20ms);  // as a rule both sleep by then
  writer.stop.cancel();
  writing.join();
  CHECK(writer.refused);
  CHECK(comes([&] { return reader.inside.load(); }));
  if (!reader.inside) reader.stop.cancel();
  reading.join();
  if (reader.inside) g.leave(false);
  g.leave(false);
}

TEST_CASE("a writer that is late wakes the readers that waited behind it") {
  gate g;
  g.enter(false, run_guard(tg::run_limits{}));
  visitor writer, reader;
  writer.timeout_ns = 200'000'000;  // time for the reader to come and to sleep; nothing else wakes it
  std::thread writing = writer.enter(g, true);
  CHECK(comes([&] { return writer.looks > 0; }));
  std::thread reading = reader.enter(g, false);
  writing.join();
  CHECK(writer.refused);
  CHECK(comes([&] { return reader.inside.load(); }));
  if (!reader.inside) reader.stop.cancel();
  reading.join();
  if (reader.inside) g.leave(false);
  g.leave(false);
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
