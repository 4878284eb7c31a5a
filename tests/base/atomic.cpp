// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/atomic.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using tagma::atomic;
using tagma::memory_order;

TEST_CASE("an atomic number returns what was there before") {
  atomic<int> n;
  CHECK(n.load() == 0);
  n.store(5);
  CHECK(n.fetch_add(3) == 5);
  CHECK(n.fetch_sub(1, memory_order::relaxed) == 8);
  CHECK(n.exchange(-1, memory_order::acquire) == 7);
  CHECK(n.load(memory_order::acquire) == -1);
  CHECK(*n.address() == -1);
  CHECK_FALSE(n.replace(7, 8));
  CHECK(n.replace(-1, 8));
  CHECK(n.load() == 8);

  atomic<bool> flag(true);
  CHECK(flag.exchange(false));
  CHECK_FALSE(flag.load());
}

TEST_CASE("no addition of several threads is lost, and what is published is seen") {
  atomic<std::int64_t> sum{0};
  atomic<bool> ready{false};
  int published = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) sum.fetch_add(1, memory_order::relaxed);
      while (!ready.load(memory_order::acquire)) std::this_thread::yield();
      sum.fetch_add(published);
    });
  published = 1000;
  ready.store(true, memory_order::release);
  for (auto& t : threads) t.join();
  CHECK(sum.load() == 44000);
}
