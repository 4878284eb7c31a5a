// SPDX-License-Identifier: BSL-1.0
#include "tagma/input.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::code_of, tg::test::text_of;
using numbers = tg::queue<tg::spec<std::int64_t>>;

/// What a closed queue still has.
std::vector<std::int64_t> drain(const numbers& q) {
  std::vector<std::int64_t> all;
  CHECK(code_of([&] {
          for (;;) all.push_back(q.dequeue().get<0>()[0]);
        }) == tg::status_code::out_of_range);
  return all;
}

TEST_CASE("a function runs to the end of its data, and the queue is closed") {
  const numbers q;
  std::int64_t n = 0;
  tg::queue_runner runner(q, [&] {
    if (n == 3) tg::fail(tg::status_code::out_of_range, "the end");
    q.enqueue(n++);
  });
  CHECK(!runner.is_running());
  runner.join();
  CHECK(!q.is_closed());
  CHECK(runner.start() == 1);
  runner.join();
  CHECK(drain(q) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(q.is_closed());
}

TEST_CASE("two functions: the queue is closed behind the second", "[scenario 116]") {
  const numbers q;
  tg::cancellation first_ended;
  bool closed_before = true;
  std::int64_t three = 0, thirty = 0;
  std::vector<tg::queue_runner::function> fill;
  fill.emplace_back([&](const tg::run_limits&) {
    if (three == 3) {
      first_ended.cancel();
      tg::fail(tg::status_code::out_of_range, "3");
    }
    q.enqueue(++three);
  });
  fill.emplace_back([&](const tg::run_limits&) {
    if (thirty == 20)
      while (!first_ended.stop_requested()) std::this_thread::yield();
    if (thirty == 20) closed_before = q.is_closed();
    if (thirty == 30) tg::fail(tg::status_code::out_of_range, "30");
    q.enqueue(++thirty);
  });
  tg::queue_runner runner(q, fill);
  CHECK(runner.start() == 2);
  runner.join();
  CHECK(!closed_before);
  CHECK(three == 3);
  CHECK(thirty == 30);
  CHECK(q.is_closed());
  CHECK(drain(q).size() == 33);
}

TEST_CASE("nothing runs if the coordinator has stopped", "[scenario 117]") {
  const numbers q;
  tg::coordinator coord;
  coord.request_stop();
  std::atomic<int> calls{0};
  tg::queue_runner runner(q, [&] { ++calls; });
  CHECK(runner.start(coord) == 1);
  coord.join();
  CHECK(calls == 0);
  CHECK(q.is_closed());
}

TEST_CASE("a stop cancels what waits for room", "[scenario 118]") {
  const numbers q({.capacity = 2});
  tg::coordinator coord;
  tg::queue_runner runner(q, [&] { q.enqueue(1); });  // does not look at the limits: the closing queue cancels it
  runner.start(coord);
  CHECK(q.dequeue().get<0>()[0] == 1);
  coord.request_stop();
  coord.join({.stop_grace_period = 1h});
  CHECK(!runner.is_running());
  CHECK(q.is_closed());
  runner.join();
}

TEST_CASE("a stop cancels what waits for another queue, and the queues of all runners are closed") {
  const numbers from, to, other;
  tg::coordinator coord;
  tg::queue_runner runner(to, [&](const tg::run_limits& l) { to.enqueue(from.dequeue(l).get<0>(), l); });
  tg::queue_runner second(other, [&](const tg::run_limits& l) { other.enqueue(from.dequeue(l).get<0>(), l); });
  runner.start(coord);
  second.start(coord);
  from.enqueue(1);
  from.enqueue(2);
  coord.request_stop();
  coord.join({.stop_grace_period = 1h});
  CHECK(to.is_closed());
  CHECK(other.is_closed());
  CHECK(!from.is_closed());
}

TEST_CASE("an error stops the coordinator, which throws it") {
  const numbers q;
  tg::coordinator coord;
  tg::queue_runner runner(q, [&] { tg::fail(tg::status_code::data_loss, "a record is broken"); }, {.threads = 3});
  CHECK(runner.start(coord) == 3);
  CHECK(text_of([&] { coord.join(); }) == "DataLoss: a record is broken");
  runner.join();
  CHECK(q.is_closed());
}

TEST_CASE("a queue that somebody else closes is an error, unless it is said to be the end") {
  for (const bool is_the_end : {false, true}) {
    const numbers q({.capacity = 1});
    tg::coordinator coord;
    tg::queue_runner runner(
        q, [&] { q.enqueue(1); },
        {.closed = is_the_end ? tg::status_set{tg::status_code::out_of_range, tg::status_code::cancelled}
                              : tg::status_set{tg::status_code::out_of_range}});
    runner.start(coord);
    q.close_now();
    CHECK(code_of([&] { coord.join(); }) == (is_the_end ? tg::status_code::ok : tg::status_code::cancelled));
  }
}

TEST_CASE("without a coordinator an error closes the queue, so that nobody waits for ever, and join throws it") {
  const numbers q({.capacity = 2});
  std::int64_t n = 0;
  std::vector<tg::queue_runner::function> fill;
  fill.emplace_back([&](const tg::run_limits&) {
    if (n == 3) tg::fail(tg::status_code::data_loss, "a record is broken");
    q.enqueue(++n);
  });
  fill.emplace_back([&](const tg::run_limits&) { q.enqueue(0); });  // without end
  tg::queue_runner runner(q, fill);
  runner.start();
  auto all = drain(q);
  std::erase(all, 0);
  CHECK(all == std::vector<std::int64_t>{1, 2, 3});
  for (int again = 0; again < 2; ++again) CHECK(text_of([&] { runner.join(); }) == "DataLoss: a record is broken");
}

TEST_CASE("a start while threads run is none; behind their end it is one") {
  const numbers q, stay;
  tg::queue_runner runner(q, [&](const tg::run_limits& l) { static_cast<void>(stay.dequeue(l)); }, {.threads = 2});
  CHECK(runner.start() == 2);
  CHECK(runner.start() == 0);
  tg::coordinator coord;
  CHECK(runner.start(coord) == 0);
  CHECK(runner.is_running());
  stay.close();
  runner.join();
  CHECK(!runner.is_running());
  CHECK(runner.start() == 2);
  runner.join();
}

TEST_CASE("the destructor ends threads that wait, also such as know no limits") {
  const numbers q({.capacity = 1}), never;
  {
    tg::queue_runner first(q, [&] { q.enqueue(1); });
    first.start();
    tg::queue_runner moved = std::move(first);
    const numbers other;
    tg::queue_runner second(other, [&](const tg::run_limits& l) { static_cast<void>(never.dequeue(l)); });
    second.start();
    const tg::queue_runner not_started(q, [] {});
  }
  CHECK(q.is_closed());
}

TEST_CASE("a runner needs threads and functions") {
  const numbers q(tg::container(), "q");
  CHECK(text_of([&] { tg::queue_runner(q, [] {}, {.threads = 0}); }) ==
        "InvalidArgument: a runner of FIFO queue 'q' has 0 threads");
  CHECK(text_of([&] { tg::queue_runner(q, std::vector<tg::queue_runner::function>{}); }) ==
        "InvalidArgument: a runner of FIFO queue 'q' has nothing to run");
}

TEST_CASE("operations of a session fill a queue until what they read ends") {
  constexpr tg::queue_of<"indices", tg::queue_options{.capacity = 4}, tg::spec<std::int64_t>> indices;
  constexpr tg::queue_of<"squares", tg::queue_options{.capacity = 4}, tg::spec<std::int64_t>> squares;
  const auto i = tg::dequeue(indices);
  const auto put = tg::enqueue(squares, i * i);
  const auto put_negative = tg::enqueue(squares, tg::negate(i));
  const auto program = tg::compile([=] { return tg::outputs(put, put_negative); });
  for (const int several : {0, 1}) {
    const tg::container shared;
    tg::session session(program, {.state = shared, .variable_prefix = several ? "left" : ""});
    const numbers in(shared, several ? "left/indices" : "indices", indices.options);
    const numbers out(shared, several ? "left/squares" : "squares", squares.options);
    tg::coordinator coord;
    tg::queue_runner runner = several ? tg::queue_runner(session, squares, tg::fetch(put, put_negative))
                                      : tg::queue_runner(session, squares, put, {.threads = 2});
    CHECK(runner.start(coord) == 2);
    coord.start("indices", [&] {
      for (int n = 1; n <= 20; ++n) in.enqueue(n);
      in.close();
    });
    const auto all = drain(out);
    coord.join();
    CHECK(all.size() == 20);
    if (several == 0) CHECK(std::accumulate(all.begin(), all.end(), std::int64_t{0}) == 20 * 21 * 41 / 6);
    CHECK(!coord.should_stop());
  }
}

TEST_CASE("a stop cancels the runs of a session") {
  constexpr tg::queue_of<"in", tg::queue_options{}, tg::spec<float>> in;
  constexpr tg::queue_of<"out", tg::queue_options{}, tg::spec<float>> out;
  const auto put = tg::enqueue(out, tg::dequeue(in));
  tg::session session(tg::compile([=] { return tg::outputs(put); }));
  tg::coordinator coord;
  tg::queue_runner runner(session, out, put, {.threads = 3});
  runner.start(coord);
  coord.request_stop();
  coord.join({.stop_grace_period = 1h});
}

TEST_CASE("one call starts all runners of a coordinator") {
  const numbers first, second, third;
  const auto ten = [](const numbers& q) {
    return [q, n = 0]() mutable {
      if (n == 10) tg::fail(tg::status_code::out_of_range, "10");
      q.enqueue(++n);
    };
  };
  tg::coordinator coord;
  auto names = tg::string_input_producer({"a", "b"}, {.num_epochs = 1});
  tg::queue_runner one(first, ten(first));
  std::vector<tg::queue_runner> more;
  more.emplace_back(second, ten(second));
  more.emplace_back(
      third, [&] { tg::fail(tg::status_code::out_of_range, "none"); }, tg::queue_runner_options{2});
  CHECK(tg::start_queue_runners(coord, names, one, more) == 1 + 1 + 1 + 2);
  coord.join();
  CHECK(drain(first).size() == 10);
  CHECK(drain(second).size() == 10);
  CHECK(drain(third).empty());
  CHECK(names.queue().size() == 2);
  CHECK(tg::start_queue_runners(coord) == 0);
}

TEST_CASE("a runner that cannot be started stops those that were") {
  struct broken {
    int start(tg::coordinator&) { tg::fail(tg::status_code::resource_exhausted, "no more threads"); }
  };
  const numbers q({.capacity = 2});
  tg::coordinator coord;
  tg::queue_runner runner(q, [&] { q.enqueue(1); });
  broken last;
  CHECK(code_of([&] { tg::start_queue_runners(coord, runner, last); }) == tg::status_code::resource_exhausted);
  CHECK(coord.should_stop());
  CHECK(code_of([&] { coord.join({.stop_grace_period = 1h}); }) == tg::status_code::resource_exhausted);
  CHECK(!runner.is_running());
}

TEST_CASE("runners, readers, errors and stops in many orders: all end, and what was enqueued is there") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    const tg::queue_kind kinds[] = {tg::queue_kind::fifo, tg::queue_kind::shuffle, tg::queue_kind::priority};
    const numbers q({.kind = kinds[below(3)], .capacity = 3 + below(5)});
    const int threads = 1 + below(3), readers = 1 + below(2), last = 1 + below(60);
    const int fails_at = below(2) == 0 ? below(60) : -1, stops_at = below(2) == 0 ? below(40) : -1;
    const bool coordinated = below(3) != 0, looks_at_limits = below(2) == 0;
    CAPTURE(seed, threads, readers, last, fails_at, stops_at, coordinated);

    std::mutex mutex;
    std::vector<std::int64_t> put, taken;
    std::atomic<int> next{0}, wrong_ends{0};
    tg::coordinator coord;
    tg::queue_runner runner(q,
                            [&](const tg::run_limits& limits) {
                              const int n = next++;
                              if (n == fails_at) tg::fail(tg::status_code::data_loss, "broken");
                              if (n >= last) tg::fail(tg::status_code::out_of_range, "the end");
                              const tg::run_limits own = looks_at_limits ? limits : tg::run_limits{};
                              q.state().options().kind == tg::queue_kind::priority ? q.enqueue_at(0, n, own)
                                                                                   : q.enqueue(n, own);
                              const std::lock_guard lock(mutex);
                              put.push_back(n);
                            },
                            {.threads = threads});
    const auto read = [&] {
      try {
        for (int i = 0;; ++i) {
          const auto batch = q.dequeue_up_to(1 + i % 3);
          const auto& [values] = batch;
          const std::lock_guard lock(mutex);
          for (const std::int64_t n : values.span()) taken.push_back(n);
          if (coordinated && stops_at >= 0 && static_cast<int>(taken.size()) >= stops_at) coord.request_stop();
        }
      } catch (const tg::error& e) {
        if (e.code() != tg::status_code::out_of_range) ++wrong_ends;
      }
    };
    CHECK((coordinated ? runner.start(coord) : runner.start()) == threads);
    for (int r = 0; r < readers; ++r) coord.start("reader", read);
    const tg::status_code end = code_of([&] { coord.join({.stop_grace_period = 1h}); });
    const tg::status_code own = code_of([&] { runner.join(); });
    CHECK(!runner.is_running());
    CHECK(q.is_closed());
    CHECK(wrong_ends == 0);
    const bool failed = fails_at >= 0 && next > fails_at;
    if (coordinated) {
      CHECK(own == tg::status_code::ok);
      if (failed && stops_at < 0) CHECK(end == tg::status_code::data_loss);
      if (!failed) CHECK(end == tg::status_code::ok);
    } else {
      CHECK(end == tg::status_code::ok);
      CHECK(own == (failed ? tg::status_code::data_loss : tg::status_code::ok));
    }
    for (const std::int64_t n : drain(q)) taken.push_back(n);
    std::sort(put.begin(), put.end());
    std::sort(taken.begin(), taken.end());
    CHECK(put == taken);
  }
}

}  // namespace
