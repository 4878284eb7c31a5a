// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/mutex.hpp"

#include <catch2/catch.hpp>
#include <thread>

TEST_CASE("a condition wakes who waits for it, and a mutex keeps counts whole") {
  tagma::mutex m;
  tagma::condition changed;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      const tagma::mutex_lock lock(m);
      ++count;
      changed.notify_all();
    }
  };
  std::thread a(add), b(add);
  {
    const tagma::mutex_lock lock(m);
    while (count < 2000) changed.wait(m);
    CHECK(count == 2000);
  }
  a.join();
  b.join();
}

TEST_CASE("a wait with an end comes back, and holds the mutex again") {
  tagma::mutex m;
  tagma::condition never;
  int value = 0;
  {
    const tagma::mutex_lock lock(m);
    never.wait_for(m, 2'000'000);
    value = 1;
  }
  std::thread other([&] {
    const tagma::mutex_lock lock(m);
    ++value;
  });
  other.join();
  CHECK(value == 2);
}
