// SPDX-License-Identifier: BSL-1.0
// The word with a point before each access to memory.
#include "support/orders.hpp"

#if defined(TAGMA_ALL_AT_ONCE)
namespace tagma::runtime {
using watched_wait_word = wait_word;
}
#else
#include "tagma/base/epilogue.hpp"
#undef TAGMA_COMPILED  // the library has no such word
#define atomic watched_atomic
#define wait_word watched_wait_word
#include "tagma/runtime/wait_word.hpp"
#undef atomic
#undef wait_word
#endif

namespace {

using tagma::memory_order;
using tagma::runtime::now_ns;
using tagma::test::sleep_ms;
using word_type = tagma::runtime::watched_wait_word;

constexpr std::int64_t much_later = 60'000'000'000;  // ns: a wake-up that has not come by then is lost

TEST_CASE("a change at any moment on the way to sleep ends the sleep") {
  for (int points = 0; points < 4; ++points) {
    word_type word;
    std::atomic<bool> changed{false};
    std::int64_t left = 0;
    const std::int64_t end = now_ns() + much_later;
    std::thread sleeper([&] {
      const tagma::test::visitor between(points, [&] {
        if (!changed.exchange(true)) word.change(false);
      });
      word.sleep_until(0, end);
      left = end - now_ns();
    });
    sleep_ms(20);
    if (!changed.exchange(true)) word.change(false);  // it sleeps before it comes to as many points
    sleeper.join();
    INFO("after " << points << " points");
    REQUIRE(left > 0);
  }
}

TEST_CASE("whoever goes to sleep at any moment of a change is woken by it") {
  for (int points = 0; points < 4; ++points) {
    word_type word;
    std::int64_t left = much_later;
    const std::int64_t end = now_ns() + much_later;
    std::thread sleeper;
    const tagma::test::visitor between(points, [&] {
      sleeper = std::thread([&] {
        word.sleep_until(0, end);
        left = end - now_ns();
      });
      sleep_ms(20);  // as a rule it sleeps by then
    });
    word.change(false);
    if (sleeper.joinable()) sleeper.join();
    INFO("after " << points << " points");
    REQUIRE(left > 0);
  }
}

}  // namespace
