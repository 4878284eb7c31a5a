// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/run_limits.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::runtime::run_guard, tg::runtime::wait_word;

static_assert(tg::timeout(1500ms).timeout_ns == 1'500'000'000 && tg::timeout(2s).timeout_ns == 2'000'000'000);
static_assert(tg::timeout(0s).timeout_ns == 1 &&
              tg::timeout(-1s).timeout_ns == 1);  // over before it begins, not endless
static_assert(tg::no_timeout().timeout_ns < 0);
static_assert(tg::time_limit().ns() == 0 && tg::time_limit(250ms).ns() == 250'000'000);
// The longest durations do not wrap around.
static_assert(tg::timeout(std::chrono::hours::max()).timeout_ns == std::int64_t{1} << 62 &&
              tg::time_limit(std::chrono::hours::min()).ns() == -(std::int64_t{1} << 62));
static_assert(tg::on_pool(2).pool == 2 && tg::on_caller_thread().pool == -1 &&
              tg::run_limits{}.pool == tg::run_limits::any_pool);

TEST_CASE("limits say what ended a run") {
  CHECK_NOTHROW(run_guard(tg::run_limits{}).check());
  CHECK_FALSE(run_guard(tg::run_limits{}).limited());
  CHECK_FALSE(run_guard(tg::no_timeout()).limited());
  CHECK_NOTHROW(run_guard(tg::timeout(std::chrono::hours::max())).check());
  tg::cancellation stop;
  const run_guard guard(tg::stop_with(stop));
  CHECK(guard.limited());
  CHECK_NOTHROW(guard.check());
  stop.cancel();
  CHECK_THROWS_WITH(guard.check(), "Cancelled: the run was cancelled");
  stop.reset();
  CHECK(guard.over() == tg::status_code::ok);
  const run_guard late(tg::timeout(0s));
  std::this_thread::sleep_for(1ms);
  CHECK(late.over() == tg::status_code::deadline_exceeded);
  CHECK_THROWS_WITH(late.check(), Catch::StartsWith("DeadlineExceeded: the run took longer than its timeout"));
}

TEST_CASE("the timeout of a session holds for runs that say nothing of theirs") {
  constexpr std::int64_t short_ns = 1, long_ns = 3'600'000'000'000;
  const run_guard own_none(tg::no_timeout(), short_ns), own_long(tg::timeout(1h), short_ns), sessions({}, short_ns),
      own_short(tg::timeout(1ns), long_ns), none({}, 0);
  std::this_thread::sleep_for(1ms);
  CHECK_FALSE(own_none.limited());
  CHECK(own_none.over() == tg::status_code::ok);
  CHECK(own_long.over() == tg::status_code::ok);
  CHECK(sessions.limited());
  CHECK(sessions.over() == tg::status_code::deadline_exceeded);
  CHECK(own_short.over() == tg::status_code::deadline_exceeded);
  CHECK_FALSE(none.limited());
}

/// A token as std::stop_token is one.
struct flag {
  bool stop_requested() const { return set->load() != 0; }
  tg::atomic<int>* set;
};

tg::run_limits joined(std::vector<tg::run_limits>& given) {
  tg::runtime::join({given.data(), given.size()});
  return given[0];
}

TEST_CASE("of several timeouts the shortest counts, in any order") {
  const auto timeout_of = [](std::vector<tg::run_limits> given) { return joined(given).timeout_ns; };
  CHECK(timeout_of({tg::on_pool(0)}) == 0);
  CHECK(timeout_of({tg::timeout(5ns), tg::timeout(7ns)}) == 5);
  CHECK(timeout_of({tg::timeout(7ns), tg::timeout(5ns)}) == 5);
  CHECK(timeout_of({tg::timeout(7ns), tg::timeout(5ns), tg::timeout(6ns), tg::on_pool(0)}) == 5);
  CHECK(timeout_of({tg::no_timeout()}) < 0);
  CHECK(timeout_of({tg::no_timeout(), tg::on_pool(0)}) < 0);
  CHECK(timeout_of({tg::no_timeout(), tg::timeout(7ns)}) == 7);
  CHECK(timeout_of({tg::timeout(7ns), tg::no_timeout()}) == 7);
}

TEST_CASE("of several tokens any one stops the run, of whatever kind") {
  tg::cancellation stops[3];
  tg::atomic<int> set{0};
  const flag token{&set};
  std::vector<tg::run_limits> given{tg::stop_with(stops[0]), tg::timeout(1h), tg::stop_with(token),
                                    tg::stop_with(stops[1]), tg::stop_with(stops[2])};
  joined(given);
  const run_guard guard(given[0]);
  CHECK(guard.limited());
  CHECK(guard.over() == tg::status_code::ok);
  for (tg::cancellation& stop : stops) {
    stop.cancel();
    CHECK(guard.over() == tg::status_code::cancelled);
    stop.reset();
    CHECK(guard.over() == tg::status_code::ok);
  }
  set.store(1);
  CHECK(guard.over() == tg::status_code::cancelled);
  set.store(0);
  // And each one ends a wait.
  for (int i = 0; i < 4; ++i) {
    wait_word word;
    std::thread stopping([&, i] { i < 3 ? stops[i].cancel() : set.store(1); });
    while (guard.over() == tg::status_code::ok) guard.wait(word, word.load(tg::memory_order::acquire));
    stopping.join();
    if (i < 3) stops[i].reset();
  }
}

TEST_CASE("two pools or two timelines are refused, the same one twice is not") {
  std::vector<tg::run_limits> pools{tg::on_pool(1), tg::timeout(1h), tg::on_caller_thread()};
  CHECK_THROWS_WITH(joined(pools),
                    "InvalidArgument: a run is given two pools of threads, 1 and -1 (-1 is the thread "
                    "that calls)");
  pools = {tg::on_pool(1), tg::on_pool(0)};
  CHECK_THROWS_AS(joined(pools), tg::error);
  pools = {tg::on_pool(1), tg::on_pool(1)};
  CHECK(joined(pools).pool == 1);
  std::byte places[2];
  tg::run_limits a, b;
  a.trace = reinterpret_cast<tg::runtime::trace_sink*>(&places[0]);
  b.trace = reinterpret_cast<tg::runtime::trace_sink*>(&places[1]);
  std::vector<tg::run_limits> timelines{a, b};
  CHECK_THROWS_WITH(joined(timelines), "InvalidArgument: a run is given two timelines to be recorded in");
  timelines = {a, tg::timeout(1h), a};
  CHECK(joined(timelines).trace == a.trace);
}

TEST_CASE("a wait ends when the word changes, when it is late, and when it is cancelled") {
  wait_word word;
  run_guard(tg::timeout(5ms)).wait(word, 0);  // would not return otherwise
  CHECK(word.load(tg::memory_order::acquire) == 0);

  tg::cancellation stop;
  const run_guard cancelled(tg::stop_with(stop));
  std::thread cancelling([&] { stop.cancel(); });
  while (cancelled.over() == tg::status_code::ok) cancelled.wait(word, word.load(tg::memory_order::acquire));
  cancelling.join();
  cancelled.wait(word, word.load(tg::memory_order::acquire));  // cancelled before

  tg::atomic<int> set{0};
  const flag token{&set};
  const run_guard polled(tg::stop_with(token));
  std::thread setting([&] { set.store(1); });
  while (polled.over() == tg::status_code::ok) polled.wait(word, word.load(tg::memory_order::acquire));
  setting.join();

  std::thread changing([&] { word.change(true); });
  const std::uint32_t seen = word.load(tg::memory_order::acquire);
  run_guard(tg::timeout(1h)).wait(word, seen - 1);
  changing.join();
}

TEST_CASE("one cancellation wakes everybody, also more than it has places for") {
  tg::cancellation stop;
  tg::atomic<int> awake{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 20; ++i)
    sleepers.emplace_back([&] {
      wait_word own;  // gone right after
      const run_guard guard(tg::stop_with(stop));
      while (guard.over() == tg::status_code::ok) guard.wait(own, own.load(tg::memory_order::acquire));
      awake.fetch_add(1);
    });
  std::this_thread::sleep_for(20ms);
  stop.cancel();
  for (auto& t : sleepers) t.join();
  CHECK(awake.load() == 20);
}

tg::cancellation by_signal;

TEST_CASE("a signal handler may cancel, whatever it interrupts") {
  const auto before = std::signal(SIGUSR1, [](int) { by_signal.cancel(); });
  wait_word word;
  for (int i = 0; i < 200; ++i) {
    by_signal.reset();
    const tg::cancellation::sleeper sleeper(by_signal, word);
    CHECK(sleeper.placed());
    const std::uint32_t seen = word.load(tg::memory_order::acquire);
    std::raise(SIGUSR1);
    CHECK(word.load(tg::memory_order::acquire) != seen);
    CHECK(sleeper.too_late());
  }
  std::signal(SIGUSR1, before);
}

}  // namespace
