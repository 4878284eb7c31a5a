// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/pool.hpp"

#include <sys/wait.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/sanitizers.hpp"

using tagma::device::cpu::thread_pool;
using tagma::test::comes;

TEST_CASE("every task runs exactly once", "[pool]") {
  for (const int workers : {0, 1, 3, 7}) {
    thread_pool pool(workers);
    CHECK(pool.workers() == workers);
    for (const int tasks : {0, 1, 2, 5, 64, 1000}) {
      std::vector<int> runs(static_cast<std::size_t>(tasks), 0);
      pool.parallel_for(tasks, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      CHECK(runs == std::vector<int>(static_cast<std::size_t>(tasks), 1));
    }
  }
}

TEST_CASE("a function pointer with a context is a task", "[pool]") {
  thread_pool pool(2);
  std::atomic<std::int64_t> sum{0};
  pool.parallel_for(
      101, [](void* context, std::int64_t i) { *static_cast<std::atomic<std::int64_t>*>(context) += i; }, &sum);
  CHECK(sum == 5050);
}

TEST_CASE("many short loops in a row", "[pool]") {
  thread_pool pool(3);
  std::vector<std::int64_t> slots(4, 0);
  for (int round = 0; round < 3000; ++round) {
    pool.parallel_for(4, [&](std::int64_t i) { slots[static_cast<std::size_t>(i)] += i; });
  }
  CHECK(slots == std::vector<std::int64_t>{0, 3000, 6000, 9000});
}

TEST_CASE("workers take part", "[pool]") {
  thread_pool pool(1);
  // Each of two tasks waits for the other, which ends only if two threads run them.
  std::atomic<int> arrived{0};
  pool.parallel_for(2, [&](std::int64_t) {
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();
  });
  CHECK(arrived == 2);
}

TEST_CASE("the thread that calls takes the first tasks, others the last", "[pool]") {
  thread_pool pool(1);
  const auto caller = std::this_thread::get_id();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived{0};
    std::int64_t first_of_caller = -1, first_of_other = -1;
    pool.parallel_for(8, [&](std::int64_t i) {
      auto& first = std::this_thread::get_id() == caller ? first_of_caller : first_of_other;
      if (first >= 0) return;
      first = i;
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();  // for the other one
    });
    CHECK(first_of_caller == 0);
    CHECK(first_of_other == 7);
  }
}

TEST_CASE("workers that sleep take part", "[pool]") {
  for (const int workers : {1, 2}) {
    thread_pool pool(workers);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough that they do
    std::atomic<int> arrived{0}, alone{0};
    pool.parallel_for(workers + 1, [&](std::int64_t) {
      ++arrived;
      if (!comes([&] { return arrived == workers + 1; })) ++alone;
    });
    CHECK(alone == 0);
  }
}

TEST_CASE("workers that sleep take part beside one that is awake") {
  thread_pool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    int missing = 0;
    for (const int threads : {2, 3}) {  // the first wakes one worker, as a rule
      std::atomic<int> arrived{0}, alone{0};
      pool.parallel_for(threads, [&](std::int64_t) {
        ++arrived;
        for (int i = 0; i < 1000 && arrived < threads; ++i) std::this_thread::yield();
        if (!comes([&] { return arrived == threads; })) ++alone;
      });
      missing += alone;
    }
    CHECK(missing == 0);
  }
}

TEST_CASE("small loops wake nobody, but where one follows the other", "[pool]") {
  constexpr auto small = tagma::runtime::helpers::awake;
  thread_pool pool(1);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> strangers{0}, done{0};
  int pauses = 20'000, loops = 0;  // longer than it takes to wake a thread
  auto task = [&](std::int64_t) {
    ++done;
    if (std::this_thread::get_id() != caller) ++strangers;
    for (int i = 0; i < pauses; ++i) tagma::runtime::relax();
  };
  const auto loop = [&] {
    ++loops;
    pool.parallel_for(
        2, [](void* context, std::int64_t i) { (*static_cast<decltype(task)*>(context))(i); }, &task, 1, small);
  };
  const auto alone = [&] {
    const int before = strangers;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    loop();
    return strangers == before;
  };
  for (const int each : {200, 20'000}) {  // one soon begins behind the end of the one before, however long that takes
    pauses = 20'000;
    CHECK(comes(alone));  // the worker sleeps
    for (int i = 0; i < 5; ++i) CHECK(alone());
    pauses = each;
    CHECK(comes([&] {
      const int before = strangers;
      for (int i = 0; i < 100; ++i) loop();
      return strangers > before;
    }));
  }
  CHECK(done == 2 * loops);
}

TEST_CASE("no more helpers take part than a loop allows", "[pool]") {
  thread_pool pool(3);
  for (const int helpers : {0, 1, 2}) {
    std::mutex access;
    std::set<std::thread::id> seen;
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> caller_came{false};
    auto task = [&](std::int64_t) {
      {
        const std::lock_guard lock(access);
        seen.insert(std::this_thread::get_id());
      }
      pool.wake(3);  // whoever sleeps looks, too
      if (std::this_thread::get_id() == caller) caller_came = true;
      static_cast<void>(comes([&] { return caller_came.load(); }));  // the others leave a task to it
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    pool.parallel_for(
        24, [](void* context, std::int64_t i) { (*static_cast<decltype(task)*>(context))(i); }, &task, helpers);
    CHECK(seen.size() <= static_cast<std::size_t>(helpers + 1));
    CHECK(seen.count(caller) == 1);
  }
}

TEST_CASE("the loops inside a task run in the thread of the task", "[pool]") {
  thread_pool pool(3);
  std::atomic<int> strangers{0}, inner{0};
  pool.parallel_for(16, [&](std::int64_t) {
    const auto here = std::this_thread::get_id();
    for (int loop = 0; loop < 2; ++loop)
      pool.parallel_for(8, [&](std::int64_t) {
        ++inner;
        if (std::this_thread::get_id() != here) ++strangers;
        if (loop > 0) std::this_thread::sleep_for(std::chrono::microseconds(200));  // time for others to come
      });
  });
  CHECK(inner == 256);
  CHECK(strangers == 0);
}

TEST_CASE("a single task leaves the workers to the loop inside it", "[pool]") {
  thread_pool pool(1);
  std::atomic<int> arrived{0};
  pool.parallel_for(1, [&](std::int64_t) {
    pool.parallel_for(2, [&](std::int64_t) {
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();
    });
  });
  CHECK(arrived == 2);
}

TEST_CASE("several threads share one pool", "[pool]") {
  thread_pool pool(2);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.parallel_for(10, [&](std::int64_t i) { sum += i; });
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(sum == 4 * 200 * 45);
}

TEST_CASE("the first exception reaches the caller after every task has run", "[pool]") {
  for (const int workers : {0, 3}) {
    thread_pool pool(workers);
    std::atomic<int> runs{0};
    const auto loop = [&] {
      pool.parallel_for(50, [&](std::int64_t i) {
        ++runs;
        if (i % 10 == 3) throw std::runtime_error("task failed");
      });
    };
    CHECK_THROWS_WITH(loop(), "task failed");
    CHECK(runs == 50);
    int after = 0;
    pool.parallel_for(1, [&](std::int64_t) { ++after; });
    CHECK(after == 1);
    CHECK_THROWS_AS(pool.parallel_for(1, [](std::int64_t) { throw 7; }), int);
  }
}

TEST_CASE("callables are used in place", "[pool]") {
  struct counter {
    std::atomic<int> runs{0};
    counter() = default;
    counter(const counter&) = delete;
    void operator()(std::int64_t) { ++runs; }
  };
  thread_pool pool(1);
  counter count;
  pool.parallel_for(20, count);
  CHECK(count.runs == 20);
}

TEST_CASE("pools come and go", "[pool]") {
  for (int i = 0; i < 50; ++i) {
    thread_pool idle(2);
    thread_pool used(2);
    std::atomic<int> runs{0};
    used.parallel_for(3, [&](std::int64_t) { ++runs; });
    CHECK(runs == 3);
  }
}

namespace {

/// Work that is open from the moment on at which a worker has looked and found it closed: the call for help comes while
/// that worker is on its way to sleep.
struct opened_behind_the_back final : tagma::runtime::shared_work {
  explicit opened_behind_the_back(thread_pool& p) : shared_work(1), pool(p) {}

  [[nodiscard]] bool open() const noexcept override {
    if (looks.fetch_add(1) > 0) return helped == 0;
    pool.wake(1);
    return false;
  }
  void help() noexcept override { ++helped; }

  thread_pool& pool;
  mutable std::atomic<int> looks{0};
  std::atomic<int> helped{0};
};

}  // namespace

TEST_CASE("a call for help is heard by a worker that has just found nothing to do", "[pool]") {
  for (int round = 0; round < 20; ++round) {
    thread_pool pool(1);
    opened_behind_the_back work(pool);
    REQUIRE(pool.offer(work));
    pool.wake(1);
    CHECK(comes([&] { return work.helped > 0; }));
    pool.withdraw(work);
    REQUIRE(work.helped == 1);
    CHECK(work.looks >= 2);
  }
}

namespace {

/// Work of one task that notes when it was done.
struct noted_work final : tagma::runtime::shared_work {
  noted_work(std::vector<int>& l, int n) : shared_work(1), list(l), number(n) {}
  [[nodiscard]] bool open() const noexcept override { return !begun; }
  void help() noexcept override {
    begun = true;
    while (!go) std::this_thread::yield();
    list.push_back(number);  // by one worker
    ended = true;
  }
  std::vector<int>& list;
  int number;
  std::atomic<bool> begun{false}, go{false}, ended{false};
};

}  // namespace

TEST_CASE("what is offered first is done after what is offered later, unless it is to be last", "[pool]") {
  for (const bool last : {false, true}) {
    std::vector<int> order;
    order.reserve(4);
    noted_work busy(order, 0), one(order, 1), two(order, 2), three(order, 3);
    thread_pool pool(1);
    REQUIRE(pool.offer(busy));
    pool.wake(1);
    while (!busy.begun) std::this_thread::yield();
    for (noted_work* work : {&one, &two, &three}) {
      work->go = true;
      REQUIRE(pool.offer(*work, last));
    }
    busy.go = true;
    while (!one.ended || !two.ended || !three.ended) std::this_thread::yield();
    for (noted_work* work : {&two, &one, &busy, &three}) pool.withdraw(*work);
    CHECK(order == (last ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 3, 2, 1}));
  }
}

#if !HAS_THREAD_SANITIZER
TEST_CASE("a forked process runs its loops itself", "[pool]") {
  auto pool = std::make_unique<thread_pool>(2);
  int runs = 0;
  pool->parallel_for(1, [&](std::int64_t) { ++runs; });
  const pid_t child = fork();
  if (child == 0) {
    int sum = 0;
    pool->parallel_for(10, [&](std::int64_t i) { sum += static_cast<int>(i); });
    pool.reset();
    _exit(sum == 45 ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
