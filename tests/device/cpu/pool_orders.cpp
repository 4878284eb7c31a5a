// SPDX-License-Identifier: BSL-1.0
// The pool with points around its mutex.
#include "support/orders.hpp"

#if defined(TAGMA_ALL_AT_ONCE)
namespace tagma::device::cpu {
using watched_thread_pool = thread_pool;
}
#else
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/denormals.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/base/epilogue.hpp"
#undef TAGMA_COMPILED  // the library has no such pool
#define mutex watched_mutex
#define mutex_lock watched_mutex_lock
#define thread_pool watched_thread_pool
#include "tagma/device/cpu/pool.hpp"
#undef mutex
#undef mutex_lock
#undef thread_pool
#endif

namespace {

using tagma::test::comes;
using pool_type = tagma::device::cpu::watched_thread_pool;

/// Work of one task, which ends when it is told to.
struct held_work final : tagma::runtime::shared_work {
  held_work() : shared_work(1) {}
  [[nodiscard]] bool open() const noexcept override { return !begun; }
  void help() noexcept override {
    if (begun.exchange(true)) return;
    static_cast<void>(comes([&] { return go.load(); }));
    ended = true;
  }
  std::atomic<bool> begun{false}, go{false}, ended{false};
};

TEST_CASE("whoever takes work back returns, whenever the last helper ends") {
  for (int points = 0; points < 7; ++points) {
    pool_type pool(1);
    held_work work;
    REQUIRE(pool.offer(work));
    pool.wake(1);
    REQUIRE(comes([&] { return work.begun.load(); }));
    std::atomic<bool> back{false}, early{false};
    std::thread taker([&] {
      const tagma::test::visitor between(points, [&] {
        work.go = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a rule the helper has left by then
      });
      pool.withdraw(work);
      early = !work.ended;
      back = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    work.go = true;  // it sleeps before it comes to as many points
    const bool in_time = comes([&] { return back.load(); });
    if (!in_time) {  // some other helper that leaves frees it
      held_work other;
      other.go = true;
      if (pool.offer(other)) {
        pool.wake(1);
        static_cast<void>(comes([&] { return other.ended.load(); }));
        pool.withdraw(other);
      }
    }
    taker.join();
    INFO("after " << points << " points");
    REQUIRE(in_time);
    CHECK_FALSE(early);
  }
}

TEST_CASE("a worker that looks for work at any moment of an offer finds it") {
  for (int points = 0; points < 4; ++points) {
    pool_type pool(1);
    held_work work;
    work.go = true;
    const tagma::test::visitor between(points, [&] {
      pool.wake(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    REQUIRE(pool.offer(work));
    pool.wake(1);
    CHECK(comes([&] { return work.ended.load(); }));
    pool.withdraw(work);
  }
}

}  // namespace
