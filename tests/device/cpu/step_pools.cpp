// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/step_pools.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "support/comes.hpp"

namespace {

namespace tg = tagma;
using tg::runtime::make_cpu_step_pool;

/// Work for as many threads as come, until it is told to end.
struct gathering final : tg::runtime::shared_work {
  explicit gathering(int most) : shared_work(most) {}
  bool open() const noexcept override { return !over.load(); }
  void help() noexcept override {
    present.fetch_add(1);
    while (!over.load()) std::this_thread::yield();
  }
  tg::atomic<int> present{0};
  tg::atomic<bool> over{false};
};

/// Offers work to a pool and returns how many threads came, `expected` or what it is after a minute.
int who_comes(tg::runtime::step_pool& pool, int expected) {
  gathering work(100);
  if (!pool.offer(work)) return 0;
  pool.call_helpers(100);
  static_cast<void>(tg::test::comes([&] { return work.present.load() >= expected; }));
  work.over.store(true);
  pool.withdraw(work);
  return work.present.load();
}

TEST_CASE("a pool has as many threads as were asked for") {
  for (const int threads : {1, 2, 5}) {
    const auto pool = make_cpu_step_pool(threads, "");
    CHECK(pool->step_threads() == threads);
    CHECK(who_comes(*pool, threads) == threads);
  }
  CHECK(make_cpu_step_pool(0, "")->step_threads() == tg::device::cpu::available_cpus());
  CHECK_THROWS_WITH(make_cpu_step_pool(-2, ""),
                    Catch::StartsWith("InvalidArgument: the option inter_op_pools asks for a pool of -2 threads"));
}

TEST_CASE("work that was offered first is done first") {
  const auto pool = make_cpu_step_pool(1, "");
  struct turn final : tg::runtime::shared_work {
    turn() : shared_work(1) {}
    bool open() const noexcept override { return place.load() < 0; }
    void help() noexcept override { place.store(next->fetch_add(1)); }
    tg::atomic<int> place{-1};
    tg::atomic<int>* next = nullptr;
  };
  tg::atomic<int> next{0};
  gathering first(1);
  CHECK(pool->offer(first));
  pool->call_helpers(1);
  while (first.present.load() == 0) std::this_thread::yield();
  std::vector<turn> turns(5);
  for (turn& t : turns) {
    t.next = &next;
    CHECK(pool->offer(t));
  }
  first.over.store(true);
  while (next.load() < 5) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) CHECK(turns[static_cast<std::size_t>(i)].place.load() == i);
  for (const int i : {2, 0, 4, 1, 3}) pool->withdraw(turns[static_cast<std::size_t>(i)]);
  pool->withdraw(first);
}

TEST_CASE("pools of one name are one pool, for as long as somebody uses it") {
  auto one = make_cpu_step_pool(2, "shared");
  auto two = make_cpu_step_pool(2, "shared");
  const auto other = make_cpu_step_pool(1, "other");
  gathering work(100);
  CHECK(one->offer(work));
  one->call_helpers(100);
  while (work.present.load() < 2) std::this_thread::yield();
  CHECK(who_comes(*other, 1) == 1);
  gathering more(100);  // both threads are busy with the work of the other user
  CHECK(two->offer(more));
  two->call_helpers(100);
  CHECK(more.present.load() == 0);
  two->withdraw(more);
  work.over.store(true);
  one->withdraw(work);

  CHECK_THROWS_WITH(make_cpu_step_pool(3, "shared"),
                    Catch::StartsWith("InvalidArgument: Pool shared configured previously with num_threads=2"));
  one = nullptr;
  CHECK_THROWS_AS(make_cpu_step_pool(3, "shared"), tg::error);
  CHECK(who_comes(*two, 2) == 2);
  two = nullptr;
  CHECK(make_cpu_step_pool(3, "shared")->step_threads() == 3);
  CHECK_NOTHROW(make_cpu_step_pool(1, "other"));
}

TEST_CASE("many take a pool and leave it at once") {
  std::vector<std::thread> threads;
  tg::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i)
        if (who_comes(*make_cpu_step_pool(1, "busy"), 1) != 1) wrong.fetch_add(1);
    });
  for (auto& t : threads) t.join();
  CHECK(wrong.load() == 0);
}

}  // namespace
