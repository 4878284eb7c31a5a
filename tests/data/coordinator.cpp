// SPDX-License-Identifier: BSL-1.0
#include "tagma/input.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::code_of, tg::test::text_of;

/// What `action` throws says, empty if it throws nothing.
template <class Action>
std::string what_of(const Action& action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("nobody is to stop until somebody asks for it, and again when that is taken back") {
  tg::coordinator coord;
  CHECK(!coord.should_stop());
  CHECK(!coord.token().stop_requested());
  CHECK(!coord.wait_for_stop(0s));
  CHECK(!coord.wait_for_stop(1ms));
  CHECK(!coord.wait_for_stop(-1s));
  coord.request_stop();
  CHECK(coord.should_stop());
  CHECK(coord.token().stop_requested());
  CHECK(coord.wait_for_stop(0s));
  CHECK(coord.wait_for_stop(-1s));
  coord.wait_for_stop();
  coord.clear_stop();
  CHECK(!coord.should_stop());
  CHECK(!coord.wait_for_stop(1ms));
}

TEST_CASE("threads that wait are woken by the request, each of them") {
  tg::coordinator coord;
  std::atomic<int> woken{0};
  for (int i = 0; i < 20; ++i)  // more than a cancellation wakes at once
    coord.start("waiter " + std::to_string(i), [&, i] {
      if (i % 2 == 0)
        coord.wait_for_stop();
      else if (!coord.wait_for_stop(1h))
        return;
      ++woken;
    });
  coord.request_stop();
  coord.join();
  CHECK(woken == 20);
}

TEST_CASE("join waits for threads of its own and for others") {
  std::atomic<int> ended{0};
  tg::coordinator coord;
  tg::named_thread other("other", [&] {
    coord.wait_for_stop();
    ++ended;
  });
  coord.add(other);
  coord.add(tg::named_thread());
  coord.start("own", [&] {
    coord.wait_for_stop();
    ++ended;
  });
  coord.start("stops all", [&] { coord.request_stop(); });
  coord.join();
  CHECK(ended == 2);
  CHECK(!other.is_alive());
}

TEST_CASE("join returns without a request to stop when all threads have ended") {
  tg::coordinator coord;
  std::atomic<int> ended{0};
  for (int i = 0; i < 3; ++i) coord.start("short", [&] { ++ended; });
  coord.join();
  CHECK(ended == 3);
  CHECK(!coord.should_stop());
}

TEST_CASE("join gives up when the grace period is over, and names the threads that run on", "[scenario 120]") {
  for (const double seconds : {1e-10, 0.002, 0.02}) {
    const std::chrono::duration<double> grace(seconds);
    tg::cancellation release;
    const tg::queue<tg::spec<float>> never;
    tg::coordinator coord;  // waits for its threads, so it ends before what they use
    const auto sleep = [&] {
      try {
        static_cast<void>(never.dequeue(tg::stop_with(release)));
      } catch (const tg::error&) {
      }
    };
    coord.start("sleeper", sleep);
    coord.start("other sleeper", sleep);
    coord.request_stop();
    CHECK(text_of([&] { coord.join({.stop_grace_period = grace}); }) ==
          "DeadlineExceeded: the coordinator has stopped with threads still running: 'sleeper', 'other sleeper'");
    tg::named_thread third("third", sleep);
    coord.add(third);
    coord.join({.stop_grace_period = grace, .ignore_live_threads = true});
    coord.add(third);
    release.cancel();
    coord.join({.stop_grace_period = 1h});
  }
}

TEST_CASE("threads that end within the grace period are no error", "[scenario 120]") {
  tg::coordinator coord;
  for (int i = 0; i < 3; ++i)
    coord.start("slow", [&] {
      coord.wait_for_stop();
      std::this_thread::sleep_for(5ms);
    });
  coord.request_stop();
  coord.join({.stop_grace_period = 1h});
}

TEST_CASE("the first error is kept, and thrown by join in preference to threads that run on", "[scenario 121]") {
  tg::cancellation release;
  const tg::queue<tg::spec<float>> never;
  tg::coordinator coord;
  coord.start("first", [&] { coord.request_stop(std::runtime_error("First")); });
  coord.start("second", [&] {
    coord.wait_for_stop();
    coord.request_stop(std::runtime_error("Too late"));
  });
  coord.start("hangs", [&] { static_cast<void>(never.dequeue(tg::stop_with(release))); });
  CHECK(what_of([&] { coord.join({.stop_grace_period = 10ms}); }) == "First");
  CHECK(what_of([&] { coord.raise_requested_exception(); }) == "First");
  release.cancel();
}

TEST_CASE("an error behind a clean stop is not kept", "[scenario 121]") {
  tg::coordinator coord;
  coord.request_stop();
  coord.start("late", [&] { coord.request_stop(std::runtime_error("Too late")); });
  coord.join();
  coord.raise_requested_exception();
}

TEST_CASE("the end of the data stops all and is no error", "[scenario 121]") {
  tg::coordinator coord;
  coord.start("reader", [&] { tg::fail(tg::status_code::out_of_range, "the end"); });
  coord.wait_for_stop();
  coord.join();
}

TEST_CASE("which errors are none is the user's to say", "[scenario 121]") {
  tg::coordinator coord({tg::status_code::aborted, tg::status_code::cancelled});
  coord.request_stop(tg::error(tg::status_code::aborted, "a lost worker"));
  coord.join();
  coord.clear_stop();
  coord.request_stop(tg::error(tg::status_code::out_of_range, "the end"));
  CHECK(code_of([&] { coord.join(); }) == tg::status_code::out_of_range);
  CHECK(!tg::status_set{}.contains(std::make_exception_ptr(std::runtime_error("not of tagma"))));
}

TEST_CASE("what a function throws is the reason to stop") {
  tg::coordinator coord;
  CHECK(coord.stop_on_exception([] {}));
  CHECK(!coord.should_stop());
  CHECK(!coord.stop_on_exception([] { throw std::runtime_error("First"); }));
  CHECK(!coord.stop_on_exception([] { throw std::runtime_error("Second"); }));
  CHECK(coord.should_stop());
  CHECK(what_of([&] { coord.join(); }) == "First");
}

TEST_CASE("an error behind join is thrown where it is reported, until clear_stop", "[scenario 122]") {
  tg::coordinator coord;
  coord.join();
  CHECK(what_of([&] { coord.request_stop(std::runtime_error("First")); }) == "First");
  CHECK(!coord.should_stop());
  CHECK(what_of([&] { coord.stop_on_exception([] { throw std::runtime_error("Second"); }); }) == "Second");
  coord.request_stop(tg::error(tg::status_code::out_of_range, "clean"));
  coord.clear_stop();
  coord.request_stop(std::runtime_error("Third"));
  CHECK(what_of([&] { coord.join(); }) == "Third");
}

TEST_CASE("a thread that would wait for itself is told") {
  tg::coordinator coord;
  coord.start("both", [&] { coord.join(); });
  CHECK(text_of([&] { coord.join(); }) == "FailedPrecondition: thread 'both' would wait for itself");
}

TEST_CASE("a stop cancels calls that wait for queues") {
  tg::coordinator coord;
  const tg::queue<tg::spec<float>> empty, full({.capacity = 0});
  std::atomic<int> cancelled{0};
  coord.start("reader", [&] {
    cancelled +=
        code_of([&] { static_cast<void>(empty.dequeue(tg::stop_with(coord.token()))); }) == tg::status_code::cancelled;
  });
  coord.start("writer", [&] {
    cancelled += code_of([&] { full.enqueue(1.0f, tg::stop_with(coord.token())); }) == tg::status_code::cancelled;
  });
  coord.request_stop();
  coord.join();
  CHECK(cancelled == 2);
}

TEST_CASE("the destructor stops threads and waits for them") {
  std::atomic<int> ended{0};
  {
    tg::coordinator coord;
    for (int i = 0; i < 3; ++i)
      coord.start("waits", [&] {
        coord.wait_for_stop();
        ++ended;
      });
  }
  CHECK(ended == 3);
}

TEST_CASE("loopers call back to back, and at an interval, until the coordinator stops") {
  tg::coordinator coord;
  std::atomic<int> calls{0}, ticks{0};
  tg::looper fast(coord, "fast", [&] {
    if (++calls >= 1000 && ticks >= 3) coord.request_stop();
  });
  tg::looper timed(
      coord, "timed", [&] { ++ticks; }, 1ms);
  coord.join();
  CHECK(calls >= 1000);
  CHECK(ticks >= 3);
  CHECK(!fast.is_alive());
  CHECK(!timed.is_alive());
}

TEST_CASE("a looper with a long interval is called once and wakes for the stop") {
  tg::coordinator coord;
  std::atomic<int> calls{0};
  tg::looper slow(
      coord, "slow", [&] { ++calls; }, 1h);
  while (calls == 0) std::this_thread::yield();
  coord.request_stop();
  coord.join();
  CHECK(calls == 1);
}

TEST_CASE("what a looper throws stops all; one that ends stops nobody") {
  tg::coordinator coord;
  {
    tg::looper alone(
        coord, "alone", [] {}, 1h);
    tg::looper stopped(coord, "stopped", [] {});
    stopped.stop();
    CHECK(!stopped.is_alive());
  }
  CHECK(!coord.should_stop());
  int calls = 0;
  tg::looper failing(coord, "failing", [&] {
    if (++calls == 3) throw std::runtime_error("the third call");
  });
  CHECK(what_of([&] { coord.join(); }) == "the third call");
  CHECK(calls == 3);
  CHECK(text_of([&] {
          tg::looper(
              coord, "back", [] {}, -1s);
        }) == "InvalidArgument: looper 'back': the interval is below 0");
}

TEST_CASE("many threads that ask for a stop at once, and one of them is the reason") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    tg::coordinator coord;
    std::atomic<int> calls{0};
    const int threads = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < threads; ++i) {
      const auto what = random() % 4;
      coord.start("thread", [&, what, i] {
        if (what == 0) coord.wait_for_stop();
        ++calls;
        if (what == 1) throw std::runtime_error(std::to_string(i));
        if (what == 2) coord.request_stop();
      });
    }
    if (random() % 2 == 0) coord.request_stop();
    coord.start("the last", [&] { coord.request_stop(); });
    const std::string error = what_of([&] { coord.join(); });
    CHECK(calls == threads);
    CHECK(error.size() <= 1);
    CHECK(what_of([&] { coord.raise_requested_exception(); }) == error);
  }
}

}  // namespace
