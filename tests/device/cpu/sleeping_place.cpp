// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/sleeping_place.hpp"

#include <pthread.h>
#include <sched.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tagma/device/cpu/pool.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace {

namespace cpu = tagma::device::cpu;
using tagma::runtime::wait_word;

/// The processors that a thread may use, in order.
std::vector<int> processors_of(pthread_t who) {
  cpu_set_t set;
  CPU_ZERO(&set);
  pthread_getaffinity_np(who, sizeof set, &set);
  std::vector<int> found;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) found.push_back(i);
  return found;
}

void use(pthread_t who, const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int i : processors) CPU_SET(static_cast<std::size_t>(i), &set);
  REQUIRE(pthread_setaffinity_np(who, sizeof set, &set) == 0);
}

/// The thread that calls, on one processor while this lives.
class on_one {
 public:
  on_one() : all_(processors_of(pthread_self())) { use(pthread_self(), {all_.front()}); }
  on_one(const on_one&) = delete;
  on_one& operator=(const on_one&) = delete;
  ~on_one() { use(pthread_self(), all_); }

  [[nodiscard]] int processor() const { return all_.front(); }

 private:
  std::vector<int> all_;
};

/// A thread that sleeps until it is told, and then says what it may use before and behind `leave`.
struct sleeper {
  sleeper()
      : thread([this] {
          place.enter();
          asleep.change(true);
          word.sleep_until(0, wait_word::never);
          woken = processors_of(pthread_self());
          place.leave();
          at_last = processors_of(pthread_self());
        }) {
    asleep.wait(0);
  }
  void wake() {
    word.change(true);
    thread.join();
  }

  cpu::sleeping_place place{};
  wait_word word{}, asleep{};
  std::vector<int> woken{}, at_last{};
  std::thread thread;
};

TEST_CASE("a thread that sleeps is woken on another processor than that of who wakes it") {
  const std::vector<int> all = processors_of(pthread_self());
  sleeper one;
  std::vector<int> others = all;
  {
    const on_one here;
    const bool has_others = all.size() > 1;
    CHECK(one.place.keep_off_caller(one.thread.native_handle()) == has_others);
    CHECK_FALSE(one.place.keep_off_caller(one.thread.native_handle()));  // it is already
    if (has_others) std::erase(others, here.processor());
  }
  one.wake();
  CHECK(one.woken == others);
  CHECK(one.at_last == all);
}

TEST_CASE("a thread that is awake, or has one processor, stays where it is") {
  const std::vector<int> all = processors_of(pthread_self());
  cpu::sleeping_place place;
  CHECK_FALSE(place.keep_off_caller(pthread_self()));
  CHECK(processors_of(pthread_self()) == all);
  sleeper one;
  const on_one here;
  use(one.thread.native_handle(), {here.processor()});
  CHECK_FALSE(one.place.keep_off_caller(one.thread.native_handle()));
  one.wake();
  CHECK(one.woken == std::vector<int>{here.processor()});
  CHECK(one.at_last == std::vector<int>{here.processor()});
}

TEST_CASE("workers of a pool may use all processors while they work, from whatever one they are called") {
  const std::vector<int> all = processors_of(pthread_self());
  cpu::thread_pool pool(2);
  for (const int from : all) {
    use(pthread_self(), {from});
    for (int round = 0; round < 5; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers sleep by then
      const pthread_t caller = pthread_self();
      tagma::atomic<int> wrong{0};
      pool.parallel_for(8, [&](std::int64_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // whoever woke it may have to free it
        if (!pthread_equal(pthread_self(), caller) && processors_of(pthread_self()) != all) wrong.fetch_add(1);
      });
      CHECK(wrong.load() == 0);
    }
  }
  use(pthread_self(), all);
}

}  // namespace
