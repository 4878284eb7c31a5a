// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/session_pools.hpp"

#include <time.h>

#include <catch2/catch.hpp>

#include "support/latches.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::apply, tg::test::latches, tg::test::calls, tg::test::polling, tg::test::polls_ended, tg::test::text_of;
using tg::test::await_latch, tg::test::poll_latch, tg::test::fail_below, tg::test::count_calls, tg::test::open_latch;

constexpr auto a = tg::placeholder<"a", float>();
constexpr auto counted = apply<count_calls>(a);
constexpr auto blocked = apply<poll_latch>(a);
constexpr auto waited = apply<await_latch>(a) + apply<open_latch>(a);
constexpr auto together = apply<poll_latch>(a) + apply<fail_below>(a);
constexpr auto all = [] { return tg::outputs(counted, blocked, waited, together); };

TEST_CASE("scenario 30: a run whose time is over returns when its kernels have") {
  for (const bool in_pool : {false, true}) {
    CHECK(tg::test::given_time([&](std::chrono::milliseconds limit) {
      tg::session_options options{.intra_op_threads = 1, .operation_timeout = limit};
      if (in_pool) options.inter_op_pools = {{.threads = 1}};
      tg::session session(tg::compile(all), options);
      tg::test::reset();
      const std::string text = text_of([&] { session.run(blocked, a = 1.0f); });
      CHECK_THAT(text, Catch::StartsWith("DeadlineExceeded: the run took longer than its timeout of " +
                                         std::to_string(limit.count()) + " ms"));
      CHECK(polling == 0);
      if (polls_ended == 0) return false;  // late before it began
      CHECK_THAT(text, Catch::Contains(" ms; done last: test.poll #") &&
                           Catch::Contains(" on /device:CPU:0 of float32 [] (run at "));
      CHECK(polls_ended == 1);
      CHECK_THAT(text_of([&] { session.run(blocked, a = 1.0f, tg::timeout(30ms)); }),
                 Catch::Contains("timeout of 30 ms"));
      latches[0].open();
      CHECK(session.run(blocked, a = 2.0f, tg::no_timeout()) == 2);
      CHECK(session.run(counted, a = 3.0f, tg::no_timeout()) == 3);
      return true;
    }));
  }
}

TEST_CASE("scenario 31: what blocks one pool delays no run in another") {
  tg::session session(tg::compile(all), {.inter_op_pools = {{.threads = 4}, {.threads = 1, .name = "small"}}});
  tg::test::reset();
  std::thread blocking([&] { session.run(blocked, a = 1.0f, tg::on_pool(1)); });
  while (polling == 0) std::this_thread::sleep_for(1ms);
  std::vector<std::thread> small;
  for (int i = 0; i < 3; ++i)
    small.emplace_back([&] { session.run(counted, a = 1.0f, tg::on_pool(1), tg::timeout(1h)); });
  for (int i = 0; i < 4; ++i) CHECK(session.run(counted, a = 5.0f) == 5);
  CHECK(session.run(counted, a = 6.0f, tg::on_caller_thread()) == 6);
  CHECK_THAT(text_of([&] { session.run(counted, a = 1.0f, tg::on_pool(1), tg::timeout(20ms)); }),
             Catch::StartsWith("DeadlineExceeded"));
  CHECK(calls == 5);
  latches[0].open();
  blocking.join();
  for (auto& t : small) t.join();
  CHECK(calls == 8);
}

TEST_CASE("scenario 32: a pool that the session does not have") {
  tg::session session(tg::compile(all), {.inter_op_pools = {{.threads = 1}}});
  CHECK_THAT(text_of([&] { session.run(counted, a = 1.0f, tg::on_pool(1)); }),
             Catch::StartsWith("InvalidArgument: Invalid inter_op_thread_pool: 1; the session has 1 pool"));
  CHECK_THAT(text_of([&] { session.run(counted, a = 1.0f, tg::on_pool(-2)); }),
             Catch::StartsWith("InvalidArgument: Invalid inter_op_thread_pool: -2"));
  CHECK(session.run(counted, a = 1.0f, tg::on_pool(0)) == 1);
  CHECK(session.run(counted, a = 1.0f, tg::on_pool(-1)) == 1);
  tg::session plain(tg::compile(all));
  CHECK(plain.run(counted, a = 1.0f, tg::on_pool(0)) == 1);
  CHECK_THROWS_AS(plain.run(counted, a = 1.0f, tg::on_pool(1)), tg::error);
}

TEST_CASE("one name means one number of threads") {
  tg::session one(tg::compile(all), {.inter_op_pools = {{.threads = 2, .name = "both"}}});
  tg::session two(tg::compile(all), {.inter_op_pools = {{.threads = 2, .name = "both"}}});
  CHECK(two.run(counted, a = 2.0f) == 2);
  CHECK_THAT(text_of([&] { tg::session(tg::compile(all), {.inter_op_pools = {{.threads = 5, .name = "both"}}}); }),
             Catch::StartsWith("InvalidArgument: Pool both configured previously with num_threads=2"));
}

TEST_CASE("scenario 38: what is fetched twice is computed once") {
  tg::session session(tg::compile(all));
  tg::test::reset();
  const auto [first, second] = session.run(tg::fetch(counted, counted), a = 4.0f);
  CHECK(first == 4);
  CHECK(second == 4);
  CHECK(calls == 1);
}

TEST_CASE("scenario 41: a step fails while another one sleeps") {
  for (const bool in_pool : {false, true}) {
    tg::session_options options{.intra_op_threads = 1, .inter_op_threads = 2};
    if (in_pool) options.inter_op_pools = {{.threads = 2}};
    tg::session session(tg::compile(all), options);
    tg::test::reset();
    CHECK_THAT(text_of([&] { session.run(together, a = -10.0f); }),
               Catch::StartsWith("DataLoss: test.fail #") && Catch::Contains("below zero (run at "));
    CHECK(polling == 0);  // it wrote to the memory of the run until its end
    CHECK(polls_ended == 1);
    latches[0].open();
    CHECK(session.run(together, a = 3.0f) == 6);
  }
}

TEST_CASE("a run that waits needs no thread of a pool") {
  tg::session session(tg::compile(all), {.inter_op_pools = {{.threads = 1}}});
  for (int i = 0; i < 20; ++i) {
    tg::test::reset();
    CHECK(session.run(waited, a = 1.0f) == 2);
  }
}

/// Processor time of this process, in nanoseconds.
std::int64_t spent() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

TEST_CASE("idle threads and runs that wait use no processor") {
  tg::session own(tg::compile(all), {.intra_op_threads = 4});
  tg::session session(tg::compile(all), {.inter_op_pools = {{.threads = 4}, {.threads = 2, .name = "idle"}}});
  const auto only = apply<await_latch, 1>(a);
  tg::session waiting(tg::compile([=] { return tg::outputs(only); }));
  tg::test::reset();
  CHECK(own.run(counted, a = 1.0f) == 1);
  CHECK(session.run(counted, a = 1.0f) == 1);
  std::thread sleeper([&] { waiting.run(only, a = 1.0f, tg::timeout(1h)); });
  CHECK(latches[1].see(1));
  bool idle = false;
  for (int i = 0; i < 100 && !idle; ++i) {  // some may not yet have come to sleep
    const std::int64_t before = spent();
    std::this_thread::sleep_for(400ms);
    idle = spent() - before < 200'000'000;  // one thread that does not sleep uses twice as much
  }
  latches[1].open();
  sleeper.join();
  CHECK(idle);
}

}  // namespace
