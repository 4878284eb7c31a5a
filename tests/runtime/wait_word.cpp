// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/wait_word.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

using tagma::memory_order;
using tagma::runtime::wait_word;

TEST_CASE("a wait for a number that has changed already returns") {
  wait_word word;
  word.change(true);
  word.wait(0);
  CHECK(word.load(memory_order::acquire) == 1);
}

TEST_CASE("a wait ends at its moment, though nothing changes") {
  wait_word word;
  const std::int64_t end = tagma::runtime::now_ns() + 2'000'000;
  word.wait_until(0, end);
  CHECK(tagma::runtime::now_ns() >= end);
  word.wait_until(0, end);  // long ago
  CHECK(word.load(memory_order::acquire) == 0);
}

TEST_CASE("two threads take turns") {
  wait_word word;
  int turns = 0;  // written by the one whose turn it is
  const auto take = [&](std::uint32_t first) {
    for (std::uint32_t turn = first; turn < 4000; turn += 2) {
      for (std::uint32_t seen; (seen = word.load(memory_order::acquire)) != turn;) word.wait(seen);
      ++turns;
      word.change(false);
    }
  };
  std::thread other([&] { take(1); });
  take(0);
  other.join();
  CHECK(turns == 4000);
}

TEST_CASE("everybody who sleeps is woken") {
  wait_word word;
  tagma::atomic<int> awake{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 5; ++t)
    threads.emplace_back([&] {
      word.wait(0);
      awake.fetch_add(1);
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough that some of them sleep
  word.change(true);
  for (auto& t : threads) t.join();
  CHECK(awake.load() == 5);
}

TEST_CASE("what is later than the end of time is the end of time") {
  constexpr std::int64_t end = wait_word::never;
  CHECK(tagma::runtime::later(3, 4) == 7);
  CHECK(tagma::runtime::later(3, -4) == -1);
  CHECK(tagma::runtime::later(0, end) == end);
  CHECK(tagma::runtime::later(1, end) == end);
  CHECK(tagma::runtime::later(end, end) == end);
  CHECK(tagma::runtime::later(end - 1, 1) == end);
}
