// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/whole_run.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::runtime::run_control, tg::runtime::whole_run, tg::runtime::run_in_order;

/// Notes which steps were done, and by which thread.
struct noted final : tg::runtime::run_steps {
  void step(std::size_t s) override {
    who = std::this_thread::get_id();
    done.push_back(s);
    if (s == fails_at) throw std::runtime_error("step");
    if (s == cancels_at) stop.cancel();
    if (s == sleeps_at) std::this_thread::sleep_until(sleeps_until);
  }
  void start(std::size_t, tg::runtime::completion) override {}
  std::exception_ptr named(std::size_t s, std::exception_ptr) noexcept override {
    return std::make_exception_ptr(tg::error(tg::status_code::internal, tg::sentence({"step ", s})));
  }
  std::vector<std::size_t> done;
  std::thread::id who;
  std::size_t fails_at = 100, cancels_at = 100, sleeps_at = 100;
  std::chrono::steady_clock::time_point sleeps_until;
  tg::cancellation stop;
};
using steps = std::vector<std::size_t>;

TEST_CASE("steps are done in their order, until one fails or the run is stopped") {
  noted run;
  run_control control{tg::run_limits{}};
  run_in_order(control, run, 4);
  CHECK(run.done == steps{0, 1, 2, 3});
  CHECK_NOTHROW(control.finish());

  noted failing;
  failing.fails_at = 1;
  run_control with_error{tg::run_limits{}};
  run_in_order(with_error, failing, 4);
  CHECK(failing.done == steps{0, 1});
  CHECK_THROWS_WITH(with_error.finish(), "Internal: step 1");

  noted cancelled;
  cancelled.cancels_at = 2;
  run_control with_limit{tg::stop_with(cancelled.stop)};
  run_in_order(with_limit, cancelled, 4);
  CHECK(cancelled.done == steps{0, 1, 2});
  CHECK_THROWS_WITH(with_limit.finish(), "Cancelled: the run was cancelled");
}

TEST_CASE("a run that is late says where it was") {
  CHECK(tg::test::given_time([](std::chrono::milliseconds limit) {
    noted slow;
    slow.sleeps_at = 1;
    run_control late{tg::timeout(limit)};
    slow.sleeps_until = std::chrono::steady_clock::now() + limit + 1ms;
    run_in_order(late, slow, 8);
    if (slow.done.size() < 2) return false;  // it was late before
    CHECK(slow.done == steps{0, 1});
    CHECK_THROWS_WITH(late.finish(),
                      "DeadlineExceeded: the run took longer than its timeout of " + std::to_string(limit.count()) +
                          " ms; done last: step 1; not finished: step 2; step 3; step 4; step 5; and 2 more");
    return true;
  }));
}

TEST_CASE("a thread of a pool does the steps while the caller sleeps") {
  const auto pool = tg::runtime::make_cpu_step_pool(2, "");
  for (int i = 0; i < 200; ++i) {
    noted run;
    if (i % 3 == 1) run.fails_at = 2;
    run_control control{tg::run_limits{}};
    whole_run(control, run, 4).run(*pool);
    CHECK(run.done.size() == (i % 3 == 1 ? 3 : 4));
    CHECK(run.who != std::this_thread::get_id());
    CHECK(control.stopped() == (i % 3 == 1));
  }
}

TEST_CASE("a run that no thread has begun when its time is over is not begun") {
  const auto pool = tg::runtime::make_cpu_step_pool(1, "");
  struct blocker final : tg::runtime::shared_work {
    blocker() : shared_work(1) {}
    bool open() const noexcept override { return state.load() == 0; }
    void help() noexcept override {
      state.store(1);
      while (state.load() == 1) std::this_thread::sleep_for(1ms);
    }
    tg::atomic<int> state{0};
  } blocking;
  CHECK(pool->offer(blocking));
  pool->call_helpers(1);
  while (blocking.state.load() == 0) std::this_thread::sleep_for(1ms);
  noted run;
  run_control control{tg::timeout(10ms)};
  whole_run(control, run, 4).run(*pool);
  CHECK(run.done.empty());
  CHECK_THROWS_WITH(control.finish(), Catch::StartsWith("DeadlineExceeded: ") &&
                                          Catch::EndsWith("; not finished: step 0; step 1; step 2; step 3"));
  blocking.state.store(2);
  pool->withdraw(blocking);
  run_control again{tg::timeout(1h)};
  whole_run(again, run, 4).run(*pool);
  CHECK(run.done.size() == 4);
}

TEST_CASE("a run that ends while its caller is on the way to sleep is not missed") {
  const auto pool = tg::runtime::make_cpu_step_pool(1, "");
  // The caller looks at its limits just before it sleeps; the run ends meanwhile, and nobody looks again.
  struct late_look {
    std::thread::id caller = std::this_thread::get_id();
    tg::cancellation never;
    std::atomic<bool> looked{false};
  } look;
  tg::run_limits limits;
  limits.stop.token = &look;
  limits.stop.wakes = &look.never;
  limits.stop.requested = [](const void* token) {
    auto& l = *static_cast<late_look*>(const_cast<void*>(token));
    if (std::this_thread::get_id() == l.caller && !l.looked.exchange(true)) std::this_thread::sleep_for(30ms);
    return l.never.stop_requested();
  };
  noted run;
  run_control control{limits};
  std::atomic<bool> back{false};
  bool in_time = false;
  std::thread watching([&] {
    in_time = tg::test::comes([&] { return back.load(); });
    if (!in_time) look.never.cancel();  // wakes the caller
  });
  whole_run(control, run, 4).run(*pool);
  back = true;
  watching.join();
  CHECK(in_time);
  CHECK(run.done == steps{0, 1, 2, 3});
  CHECK_NOTHROW(control.finish());
}

TEST_CASE("however often threads come to help, the steps are done once") {
  struct eager_pool final : tg::runtime::step_pool {
    bool offer(tg::runtime::shared_work& w) override {
      work = &w;
      return true;
    }
    void call_helpers(int) override {
      if (!calls) return;
      CHECK(work->open());
      work->help();
      CHECK_FALSE(work->open());
      work->help();
    }
    void withdraw(tg::runtime::shared_work& w) override { w.help(); }
    [[nodiscard]] int step_threads() const override { return 1; }
    tg::runtime::shared_work* work = nullptr;
    bool calls = true;
  } pool;
  noted run;
  run_control control{tg::run_limits{}};
  whole_run(control, run, 3).run(pool);
  CHECK(run.done == steps{0, 1, 2});

  // A thread that comes when the run was over before it began finds nothing to do and nothing to say.
  pool.calls = false;
  noted never_begun;
  run_control late{tg::timeout(1ns)};
  std::this_thread::sleep_for(1ms);
  whole_run(late, never_begun, 2).run(pool);
  CHECK(never_begun.done.empty());
  CHECK_THROWS_WITH(late.finish(), Catch::EndsWith("; not finished: step 0; step 1"));
}

}  // namespace
