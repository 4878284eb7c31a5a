// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/pool.hpp"

#include <sys/wait.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using tagma::device::cpu::thread_pool;

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

TEST_CASE("a loop inside a task runs in the thread of the task", "[pool]") {
  thread_pool pool(3);
  std::atomic<int> strangers{0}, inner{0};
  pool.parallel_for(16, [&](std::int64_t) {
    const auto here = std::this_thread::get_id();
    pool.parallel_for(8, [&](std::int64_t) {
      ++inner;
      if (std::this_thread::get_id() != here) ++strangers;
    });
  });
  CHECK(inner == 128);
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

#if !defined(__SANITIZE_THREAD__)
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
