// SPDX-License-Identifier: BSL-1.0
// Limits of runs with a point before each access to an atomic value.
#include "support/orders.hpp"

#if defined(TAGMA_ALL_AT_ONCE)
namespace watched = tagma;
#else
namespace watched {
using tagma::memory_order, tagma::mutex, tagma::mutex_lock, tagma::condition;
template <class T>
using atomic = tagma::watched_atomic<T>;
}  // namespace watched
#include "tagma/base/epilogue.hpp"
#undef TAGMA_COMPILED  // the library has nothing of this namespace
#define tagma watched
#include "tagma/runtime/run_limits.hpp"
#undef tagma
#endif

namespace {

using tagma::test::comes, tagma::test::sleep_ms;
using watched::cancellation;
using watched::runtime::run_guard, watched::runtime::wait_word;

std::uint32_t value_of(const wait_word& word) { return word.load(tagma::memory_order::acquire); }

TEST_CASE("a run that sleeps is woken by a cancellation at any moment on the way") {
  for (int points = 0; points < 1040; points += points < 40 ? 1 : 50) {  // it looks at the word a while first
    cancellation stop;
    wait_word word;
    std::atomic<bool> cancelled{false}, back{false};
    const auto cancel = [&] {
      if (!cancelled.exchange(true)) stop.cancel();
    };
    std::thread sleeper([&] {
      const run_guard guard(watched::stop_with(stop));
      const tagma::test::visitor between(points, cancel);
      guard.wait(word, 0);
      back = true;
    });
    sleep_ms(2);
    cancel();
    const bool in_time = comes([&] { return back.load(); });
    if (!in_time) word.change(true);
    sleeper.join();
    INFO("after " << points << " points");
    REQUIRE(in_time);
  }
}

TEST_CASE("whoever is woken by a cancellation finds it, at every moment of it") {
  for (int points = 0; points < 30; ++points) {
    cancellation stop;
    wait_word words[2];
    const cancellation::sleeper first(stop, words[0]), second(stop, words[1]);
    bool unexplained = false;
    {
      const tagma::test::visitor between(points, [&] {
        for (const wait_word& word : words) unexplained = unexplained || (value_of(word) > 0 && !stop.stop_requested());
      });
      stop.cancel();
    }
    INFO("after " << points << " points");
    CHECK_FALSE(unexplained);
    CHECK(value_of(words[0]) > 0);
    CHECK(value_of(words[1]) > 0);
  }
}

TEST_CASE("nobody touches the word of a sleeper that is gone") {
  for (int points = 0; points < 24; ++points) {
    cancellation stop;
    wait_word word;
    std::atomic<bool> placed{false}, leave{false}, gone{false};
    std::uint32_t last = 0;
    std::thread sleeping([&] {
      {
        const cancellation::sleeper sleeper(stop, word);
        placed = true;
        while (!leave) std::this_thread::yield();
      }
      last = value_of(word);
      gone = true;
    });
    CHECK(comes([&] { return placed.load(); }));
    {
      const tagma::test::visitor between(points, [&] {
        leave = true;
        for (int ms = 0; ms < 20 && !gone; ++ms) sleep_ms(1);  // it may have to wait for the end of this
      });
      stop.cancel();
    }
    leave = true;
    sleeping.join();
    INFO("after " << points << " points");
    CHECK(value_of(word) == last);
  }
}

TEST_CASE("whoever is woken by the end of a session finds it, at every moment of it and on every way to sleep") {
  for (int points = 0; points < 20; ++points) {
    watched::runtime::closing end;
    wait_word words[2];
    const watched::runtime::closing::sleeper first(end, words[0]), second(end, words[1]);
    bool unexplained = false;
    {
      const tagma::test::visitor between(points, [&] {
        for (const wait_word& word : words) unexplained = unexplained || (value_of(word) > 0 && !end.begun());
      });
      end.begin();
    }
    INFO("after " << points << " points");
    CHECK_FALSE(unexplained);
    CHECK(value_of(words[0]) > 0);
    CHECK(value_of(words[1]) > 0);
  }
  for (int points = 0; points < 1040; points += points < 20 ? 1 : 60) {
    watched::runtime::closing end;
    wait_word word;
    std::atomic<bool> begun{false}, back{false};
    const auto begin = [&] {
      if (!begun.exchange(true)) end.begin();
    };
    std::thread sleeper([&] {
      const run_guard guard(watched::runtime::no_limits, 0, &end);
      const tagma::test::visitor between(points, begin);
      guard.wait(word, 0);
      back = true;
    });
    sleep_ms(2);
    begin();
    const bool in_time = comes([&] { return back.load(); });
    if (!in_time) word.change(true);
    sleeper.join();
    INFO("after " << points << " points");
    REQUIRE(in_time);
  }
}

}  // namespace
