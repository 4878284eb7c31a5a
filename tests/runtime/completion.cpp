// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/completion.hpp"

#include <catch2/catch.hpp>

#include "support/latches.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::apply, tg::test::latches;
using tg::test::await_latch, tg::test::open_latch, tg::test::fail_below, tg::test::count_calls;

constexpr auto a = tg::placeholder<"a", float>();

/// What waits has begun before what opens: sums depend on all of them.
constexpr auto three_waits = apply<await_latch>(a) + apply<await_latch>(a) + apply<await_latch>(a);

TEST_CASE("with one thread, a step of the same run ends the waits of others") {
  const auto sum = three_waits + apply<open_latch>(tg::exp(a));
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  for (const int threads : {1, 2, 3}) {
    tg::session session(program, {.intra_op_threads = threads});
    for (int i = 0; i < 20; ++i) {
      tg::test::reset();
      CHECK(session.run(sum, a = 0.0f) == 1);
    }
    tg::test::reset();
    CHECK(session.run(sum, a = 0.0f, tg::on_caller_thread()) == 1);
  }
}

TEST_CASE("another run of the session ends the waits of this one") {
  const auto open = apply<open_latch>(a);
  const auto sum = three_waits;
  const auto program = tg::compile([=] { return tg::outputs(sum, open); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    tg::test::reset();
    float result = 0;
    std::thread waiting([&] { result = session.run(sum, a = 2.0f); });
    CHECK(latches[0].see(3));
    CHECK(session.run(open, a = 5.0f) == 5);
    waiting.join();
    CHECK(result == 6);
  }
}

/// A chain of waits: each latch is opened by a run that itself waits for the next.
TEST_CASE("what waits hands on in turn") {
  const auto first = apply<open_latch, 0>(apply<await_latch, 1>(a));
  const auto second = apply<open_latch, 1>(apply<await_latch, 2>(a));
  const auto third = apply<await_latch, 0>(a);
  const auto last = apply<open_latch, 2>(a);
  const auto program = tg::compile([=] { return tg::outputs(first, second, third, last); });
  tg::session session(program, {.intra_op_threads = 1});
  tg::test::reset();
  std::vector<std::thread> runs;
  runs.emplace_back([&] { session.run(first, a = 1.0f); });
  runs.emplace_back([&] { session.run(second, a = 1.0f); });
  runs.emplace_back([&] { session.run(third, a = 1.0f); });
  for (int l = 0; l < 3; ++l) CHECK(latches[l].see(1));
  CHECK(session.run(last, a = 3.0f) == 3);
  for (auto& r : runs) r.join();
  CHECK(latches[0].waiting() == 0);
}

TEST_CASE("a run that waits keeps no update of its variables from the session") {
  const auto v = tg::variable<"v", float>(tg::zeros);
  // What trains waits for a batch, what makes batches reads the variable: with the gate held, neither would end.
  const auto train = tg::assign_add(v, apply<await_latch>(a) * tg::exp(v));
  const auto make = apply<open_latch>(v + a);
  const auto program = tg::compile([=] { return tg::outputs(train, make, v); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    tg::test::reset();
    std::thread training([&] { session.run(train, a = 2.0f); });
    CHECK(latches[0].see(1));
    CHECK(session.run(make, a = 7.0f) == 7);
    training.join();
    CHECK(session.run(v) == 2);
  }
}

TEST_CASE("a wait behind a variable ends, too, and a fetched variable is that of the end") {
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto counted = tg::assign_add(v, a);
  const auto waited = apply<await_latch>(counted);
  const auto before = apply<await_latch>(a);
  const auto open = apply<open_latch>(a);
  const auto program = tg::compile([=] { return tg::outputs(waited, before, open, v); });
  tg::session session(program, {.intra_op_threads = 1});
  tg::test::reset();
  float result = 0;
  std::thread waiting([&] { result = session.run(waited, a = 2.0f); });
  CHECK(latches[0].see(1));
  session.run(open, a = 0.0f);
  waiting.join();
  CHECK(result == 3);
  const auto [number, value] = session.run(tg::fetch(before, v), a = 9.0f);
  CHECK(number == 9);
  CHECK(value == 3);
}

TEST_CASE("a run whose time is over, or that is cancelled, ends its waits and leaves the session usable") {
  const auto program = tg::compile([] { return tg::outputs(three_waits); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    CHECK(tg::test::given_time([&](std::chrono::milliseconds limit) {
      tg::test::reset();
      const std::string text = tg::test::text_of([&] { session.run(three_waits, a = 1.0f, tg::timeout(limit)); });
      CHECK_THAT(text, Catch::StartsWith("DeadlineExceeded: the run took longer than its timeout of " +
                                         std::to_string(limit.count()) + " ms; not finished: test.await #"));
      CHECK(latches[0].cancelled == latches[0].begun);
      CHECK(latches[0].waiting() == 0);
      if (latches[0].begun < 3) return false;
      CHECK_THAT(text, Catch::Contains("; add #5 on /device:CPU:0 of float32 [] and float32 [] and float32 [] (run "
                                       "at "));
      return true;
    }));
    tg::cancellation stop;
    std::thread cancelling([&] {
      latches[0].see(3);
      stop.cancel();
    });
    CHECK_THAT(tg::test::text_of([&] { session.run(three_waits, a = 1.0f, tg::stop_with(stop)); }),
               Catch::StartsWith("Cancelled: the run was cancelled"));
    cancelling.join();
    CHECK(latches[0].cancelled == 6);
    latches[0].open();
    CHECK(session.run(three_waits, a = 1.0f) == 3);
  }
}

TEST_CASE("a failure elsewhere in the run ends its waits") {
  const auto sum = three_waits + apply<fail_below>(a);
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    tg::test::reset();
    const std::string text = tg::test::text_of([&] { session.run(sum, a = -1.0f); });
    CHECK_THAT(text, Catch::StartsWith("DataLoss: test.fail #") && Catch::Contains("/device:CPU:0") &&
                         Catch::Contains("float32 []") && Catch::Contains("below zero (run at ") &&
                         Catch::Contains("completion.cpp:"));
    CHECK_THAT(text, !Catch::Contains("more error"));
    CHECK(latches[0].waiting() == 0);
  }
}

TEST_CASE("operations that end with an error are named, and each of them is in the message") {
  const auto program = tg::compile([] { return tg::outputs(three_waits); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    tg::test::reset();
    std::thread failing([&] {
      latches[0].see(3);
      latches[0].fail();  // all three at once, with the lock of the latch held
    });
    const std::string text = tg::test::text_of([&] { session.run(three_waits, a = 1.0f); });
    failing.join();
    CHECK_THAT(text, Catch::StartsWith("OutOfRange: test.await #") &&
                         Catch::Contains("on /device:CPU:0 of float32 []") &&
                         Catch::Contains("the latch is closed for good; 2 more errors: OutOfRange: test.await #"));
    CHECK_THAT(tg::test::text_of([&] { session.run(three_waits, a = -2.0f); }),
               Catch::StartsWith("InvalidArgument: test.await #") && Catch::Contains("cannot begin"));
    latches[0].open();
    CHECK(session.run(three_waits, a = 1.0f) == 3);
  }
}

TEST_CASE("waits are on the timeline, from their begin to their end") {
  const auto sum = apply<await_latch>(a) + apply<count_calls>(apply<open_latch>(tg::exp(a)));
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  struct recorder final : tg::runtime::trace_sink {
    void add(const tg::runtime::traced_step& step) noexcept override {
      ++steps;
      if (step.node.op->name == "test.await") waited = step.end_ns >= step.begin_ns && step.begin_ns > 0;
    }
    int steps = 0;
    bool waited = false;
  } recorded;
  tg::session session(program, {.intra_op_threads = 1});
  tg::test::reset();
  tg::run_limits limits;
  limits.trace = &recorded;
  CHECK(session.run(sum, a = 0.0f, limits) == 1);
  CHECK(recorded.waited);
  CHECK(recorded.steps >= 4);
}

}  // namespace
