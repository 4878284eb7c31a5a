// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/executor.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tagma/device/cpu/executor.hpp"

namespace {

namespace tg = tagma;

TEST_CASE("every task is done once, whatever the number of threads") {
  for (const int threads : {1, 2, 4}) {
    const auto executor = tg::runtime::make_cpu_executor(threads);
    CHECK(executor->threads() == threads);
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      executor->parallel_for(count, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
      for (const auto& d : done) CHECK(d == 1);
    }
  }
  CHECK(tg::runtime::make_cpu_executor(0)->threads() >= 1);
}

TEST_CASE("the first exception comes back, and the executor goes on") {
  const auto executor = tg::runtime::make_cpu_executor(2);
  CHECK_THROWS_WITH(executor->parallel_for(100,
                                           [](std::int64_t i) {
                                             if (i == 50) throw std::runtime_error("task 50");
                                           }),
                    "task 50");
  std::atomic<int> done{0};
  executor->parallel_for(100, [&](std::int64_t) { ++done; });
  CHECK(done == 100);
}

TEST_CASE("several threads use one executor at once") {
  const auto executor = tg::runtime::make_cpu_executor(2);
  std::atomic<int> done{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < 3; ++t)
    pool.emplace_back([&] {
      for (int i = 0; i < 20; ++i) executor->parallel_for(10, [&](std::int64_t) { ++done; });
    });
  for (std::thread& t : pool) t.join();
  CHECK(done == 600);
}

}  // namespace
