// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/plan_store.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tagma::test::code_of;
using tg::runtime::bound_plan, tg::runtime::plan_store, tg::runtime::run_guard;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto k = tg::placeholder<"k", float, 8, 4>();
constexpr auto y = tg::softmax(tg::matmul(x, k));
constexpr auto program = [] { return tg::outputs(y); };
constexpr auto peak_bytes = [](tg::extent batch) {
  return static_cast<std::size_t>(tg::program<decltype(program)>::peak_bytes(batch));
};

template <class Session>
void run_rows(Session& session, tg::extent batch) {
  const tg::tensor<float> kernel(tg::shape{8, 4});
  const auto r = session.run(y, x = tg::tensor<float>(tg::shape{batch, 8}), k = kernel);
  CHECK(r.dims() == tg::shape{batch, 4});
  CHECK(r[0] == 0.25f);
}

TEST_CASE("idle plans stay within the budget, what was used last stays in any case") {
  const auto kept = static_cast<std::int64_t>(peak_bytes(10) + peak_bytes(20));
  tg::session session(tg::compile(program), {.plan_cache_bytes = kept});
  const auto idle = [&] { return session.core().arena_bytes(); };
  run_rows(session, 10);
  CHECK(idle() == peak_bytes(10));
  run_rows(session, 20);
  CHECK(idle() == peak_bytes(10) + peak_bytes(20));
  run_rows(session, 10);
  run_rows(session, 5);  // 20 was idle longest, and goes
  CHECK(idle() == peak_bytes(10) + peak_bytes(5));
  run_rows(session, 500);
  CHECK(idle() == peak_bytes(500));
  run_rows(session, 500);
  CHECK(idle() == peak_bytes(500));
  run_rows(session, 1);
  CHECK(idle() == peak_bytes(1));
  CHECK_THROWS_WITH((tg::session(tg::compile(program), {.plan_cache_bytes = -1})),
                    Catch::Contains("plan_cache_bytes is -1"));
}

TEST_CASE("the default budget is a quarter of the machine's memory, or of what a container may use") {
  using tg::runtime::default_plan_cache_bytes;
  const std::int64_t of_machine = default_plan_cache_bytes(0);
  CHECK(of_machine == sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE));
  CHECK(default_plan_cache_bytes(4'000'000) == 1'000'000);
  CHECK(default_plan_cache_bytes(9223372036854771712) == of_machine);
  CHECK(default_plan_cache_bytes() <= of_machine);
}

TEST_CASE("by default a session remembers many small plans") {
  tg::session session(tg::compile(program));
  std::size_t all = 0;
  for (tg::extent batch = 1; batch <= 40; ++batch) {
    run_rows(session, batch);
    all += peak_bytes(batch);
  }
  CHECK(session.core().arena_bytes() == all);
}

TEST_CASE("of one fetch a session keeps 64 plans, those that were used last") {
  tg::session session(tg::compile(program));
  std::size_t all = 0;
  for (tg::extent batch = 1; batch <= 64; ++batch) {
    run_rows(session, batch);
    all += peak_bytes(batch);
  }
  CHECK(session.core().arena_bytes() == all);
  run_rows(session, 1);  // now 2 is the oldest
  CHECK(session.core().arena_bytes() == all);
  run_rows(session, 200);
  CHECK(session.core().arena_bytes() == all - peak_bytes(2) + peak_bytes(200));
}

/// Memory for plans that are none.
struct small_memory {
  std::atomic<int> room;
  std::atomic<int> attempts{0};

  explicit small_memory(int bytes) : room(bytes) {}
  void take(int bytes) {
    ++attempts;
    int seen = room;
    do
      if (seen < bytes) throw std::bad_alloc();
    while (!room.compare_exchange_weak(seen, seen - bytes));
  }
  void give_back(int bytes) { room += bytes; }
};
const run_guard unlimited{tg::run_limits{}};

TEST_CASE("who is alone and has nothing to let go fails at once, with its own error") {
  plan_store store;
  small_memory memory(10);
  store.enter({});
  const run_guard impatient{tg::timeout(60s)};  // a wait would end with another error
  CHECK_THROWS_AS(store.bind(impatient,
                             [&] {
                               memory.take(11);
                               return tg::owned<bound_plan>();
                             }),
                  std::bad_alloc);
  CHECK(memory.attempts == 1);
  int calls = 0;
  CHECK(code_of([&] {
          static_cast<void>(store.bind(impatient, [&]() -> tg::owned<bound_plan> {
            ++calls;
            tg::fail(tg::status_code::resource_exhausted, "no room");
          }));
        }) == tg::status_code::resource_exhausted);
  CHECK(calls == 1);
  store.leave(nullptr);
}

TEST_CASE("where a session has nothing idle, what is idle in others goes, a plan at a time") {
  plan_store store;
  CHECK_FALSE(store.let_one_go());
  tg::session first(tg::compile(program)), second(tg::compile(program));
  run_rows(first, 3);
  run_rows(first, 4);
  run_rows(second, 5);
  const auto idle = [&] { return first.core().arena_bytes() + second.core().arena_bytes(); };
  for (int plans = 3; plans > 0; --plans) {
    const std::size_t before = idle();
    CHECK(before > 0);
    CHECK(store.let_one_go());
    CHECK(idle() < before);
  }
  CHECK(idle() == 0);
  CHECK_FALSE(store.let_one_go());

  // Who binds and finds no memory lets them go, too.
  run_rows(first, 3);
  store.enter({});
  int calls = 0;
  CHECK_NOTHROW(static_cast<void>(store.bind(unlimited, [&] {
    ++calls;
    if (first.core().arena_bytes() > 0) throw std::bad_alloc();
    return tg::owned<bound_plan>();
  })));
  CHECK(calls == 2);
  store.leave(nullptr);
}

TEST_CASE("what is no lack of memory is not tried again") {
  plan_store store;
  store.enter({});
  store.enter({});  // somebody else
  int calls = 0;
  CHECK(code_of([&] {
          static_cast<void>(store.bind(unlimited, [&]() -> tg::owned<bound_plan> {
            ++calls;
            tg::fail(tg::status_code::invalid_argument, "wrong");
          }));
        }) == tg::status_code::invalid_argument);
  CHECK(calls == 1);
}

TEST_CASE("what is larger than all that there is lets nothing go") {
  constexpr auto a = tg::placeholder<"a", float, tg::dyn, 1>();
  constexpr auto b = tg::placeholder<"b", float, 1, tg::dyn>();
  const auto all = tg::sum(tg::cumsum<0>(a + b));
  tg::session session(tg::compile([=] { return tg::outputs(all); }));
  const auto run = [&](tg::extent n) {
    return code_of([&] { session.run(all, a = tg::tensor<float>({n, 1}), b = tg::tensor<float>({1, n})); });
  };
  CHECK(run(3) == tg::status_code::ok);
  const std::size_t idle = session.core().arena_bytes();
  CHECK(idle > 0);
  CHECK(run(tg::extent{1} << 27) == tg::status_code::resource_exhausted);  // a sum of 2^56 bytes
  CHECK(session.core().arena_bytes() == idle);

  plan_store store;
  store.enter({});
  store.enter({});  // somebody else
  int calls = 0;
  CHECK(code_of([&] {
          static_cast<void>(store.bind(unlimited, [&]() -> tg::owned<bound_plan> {
            ++calls;
            tg::fail_never_fits({"no such room"});
          }));
        }) == tg::status_code::resource_exhausted);
  CHECK(calls == 1);
  CHECK(session.core().arena_bytes() == idle);
}

TEST_CASE("who finds no memory waits for the others, within the limits of its run") {
  plan_store store;
  small_memory memory(10);
  memory.take(8);
  store.enter({});  // has the 8
  store.enter({});
  const auto bind = [&](const run_guard& guard) {
    static_cast<void>(store.bind(guard, [&] {
      memory.take(9);
      return tg::owned<bound_plan>();
    }));
  };
  CHECK(code_of([&] { bind(run_guard(tg::timeout(5ms))); }) == tg::status_code::deadline_exceeded);
  tg::cancellation stop;
  stop.cancel();
  CHECK(code_of([&] { bind(run_guard(tg::stop_with(stop))); }) == tg::status_code::cancelled);
  const int before = memory.attempts;
  std::thread other([&] {
    while (memory.attempts == before) std::this_thread::sleep_for(1ms);
    memory.give_back(8);
    store.leave(nullptr);
  });
  CHECK_NOTHROW(bind(unlimited));
  other.join();
  CHECK(memory.room == 1);
  store.leave(nullptr);
}

TEST_CASE("two that take from each other what is enough for one try again one at a time") {
  plan_store store;
  std::atomic<int> inside{0}, met{0}, failed{0};
  const auto visit = [&] {
    store.enter({});
    try {
      static_cast<void>(store.bind(unlimited, [&] {
        ++inside;
        bool both = false;
        for (int i = 0; i < 200 && !both; ++i) {
          both = inside > 1;
          std::this_thread::sleep_for(1ms);
        }
        if (both) std::this_thread::sleep_for(20ms);  // the other one sees it, too
        --inside;
        if (both) ++met, throw std::bad_alloc();
        return tg::owned<bound_plan>();
      }));
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    store.leave(nullptr);
  };
  std::thread other(visit);
  visit();
  other.join();
  CHECK(met <= 3);  // the second attempt of one may still meet the first of the other
  CHECK(failed == 0);
}

TEST_CASE("of many visits that each fit alone none fails") {
  plan_store store;
  small_memory memory(100);
  std::atomic<int> failed{0}, late{0}, done{0};
  std::vector<std::thread> visitors;
  for (int t = 0; t < 4; ++t)
    visitors.emplace_back([&, t] {
      const int bytes = 40 + 20 * t;
      for (int i = 0; i < 100; ++i) {
        store.enter({});
        const auto begun = std::chrono::steady_clock::now();
        try {
          static_cast<void>(store.bind(unlimited, [&] {
            memory.take(bytes / 2);  // a plan takes several blocks
            try {
              memory.take(bytes - bytes / 2);
            } catch (...) {
              memory.give_back(bytes / 2);
              throw;
            }
            return tg::owned<bound_plan>();
          }));
          std::this_thread::yield();
          memory.give_back(bytes);
          ++done;
        } catch (const std::bad_alloc&) {
          // Others that need less may come before it for all the ten seconds that a visit waits.
          ++(std::chrono::steady_clock::now() - begun < 10s ? failed : late);
        }
        store.leave(nullptr);
      }
    });
  for (std::thread& t : visitors) t.join();
  CHECK(failed == 0);
  CHECK(done + late == 400);
  CHECK(memory.room == 100);
}

}  // namespace
