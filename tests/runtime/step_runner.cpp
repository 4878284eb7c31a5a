// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/step_runner.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "tagma/base/random.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace {

namespace tg = tagma;
using tg::ir::node_id;
using tg::runtime::step_runner;

struct some_operation {
  static constexpr std::string_view name = "some";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args&) { return nullptr; }
};

/// A plan of steps without storage: step i waits for the steps in `inputs[i]`.
struct hand_made {
  std::vector<tg::plan::plan_node> nodes;
  std::vector<tg::plan::plan_step> steps;
  std::vector<node_id> inputs;
  tg::plan::plan_view view;

  explicit hand_made(const std::vector<std::vector<node_id>>& inputs_of) {
    for (std::size_t i = 0; i < inputs_of.size(); ++i) {
      tg::plan::plan_node n;
      n.op = &tg::ir::info<some_operation>;
      n.first_input = static_cast<std::int32_t>(inputs.size());
      n.inputs = static_cast<std::int16_t>(inputs_of[i].size());
      n.step = static_cast<std::int32_t>(i);
      for (const node_id in : inputs_of[i]) inputs.push_back(in);
      nodes.push_back(n);
      steps.push_back({static_cast<node_id>(i), 0, 0, false});
    }
    view.nodes = nodes;
    view.steps = steps;
    view.inputs = inputs;
  }
};

void prepare(step_runner& runner, const hand_made& plan, const std::vector<double>& costs, int threads) {
  runner.set_plan(plan.view);
  for (std::size_t s = costs.size(); s-- > 0;) runner.set_cost(s, costs[s]);
  runner.set_threads(threads);
}

/// A run whose steps call a function.
template <class Step>
class called final : public tg::runtime::run_steps {
 public:
  explicit called(Step& step) : step_(step) {}
  void step(std::size_t s) override { step_(s); }
  void start(std::size_t s, tg::runtime::completion done) override {
    if constexpr (std::is_invocable_v<Step&, std::size_t, tg::runtime::completion>) step_(s, done);
  }
  std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }

 private:
  Step& step_;
};

template <class Step>
void run(step_runner& runner, tg::runtime::executor& threads, Step step) {
  tg::runtime::run_control control{tg::run_limits{}};
  called<Step> steps(step);
  runner.run(control, &threads, true, steps);
  control.finish();
}

/// Up to three inputs for each of `size` steps, and costs on both sides of what is handed to other threads.
std::vector<std::vector<node_id>> random_inputs(std::uint64_t seed, std::size_t size, std::vector<double>& costs) {
  std::vector<std::vector<node_id>> inputs(size);
  costs.assign(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    const auto r = tg::random_block({seed, 1, 0}, i);
    for (std::size_t k = 0; k < r[3] % 4 && i > 0; ++k)
      inputs[i].push_back(static_cast<node_id>(i - 1 - r[k] % std::min<std::size_t>(i, 20)));
    costs[i] = r[3] % 8 < 4 ? 100 : 5000;
  }
  return inputs;
}

TEST_CASE("every step runs once, after those that it waits for") {
  for (const int threads : {1, 2, 4}) {
    const auto executor = tg::runtime::make_cpu_executor(threads);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<double> costs;
      const auto inputs = random_inputs(seed, 200, costs);
      const hand_made plan(inputs);
      step_runner runner;
      prepare(runner, plan, costs, threads);
      std::vector<std::atomic<int>> done(inputs.size());
      for (int round = 1; round <= 3; ++round) {
        std::atomic<int> early{0};
        run(runner, *executor, [&](std::size_t s) {
          for (const node_id in : inputs[s])
            if (done[static_cast<std::size_t>(in)] != round) ++early;
          ++done[s];
        });
        CHECK(early == 0);
        for (const auto& d : done) CHECK(d == round);
      }
    }
  }
}

TEST_CASE("random failures end a run with one of them, and the next run is whole") {
  const auto executor = tg::runtime::make_cpu_executor(3);
  std::size_t steps = 0, failures = 0;
  for (std::uint64_t seed = 0; steps < 10'000; ++seed) {
    std::vector<double> costs;
    const auto inputs = random_inputs(seed, 60, costs);
    const hand_made plan(inputs);
    step_runner runner;
    prepare(runner, plan, costs, 3);
    for (std::uint64_t round = 0; round < 4; ++round, steps += inputs.size()) {
      std::vector<std::atomic<int>> done(inputs.size());
      const bool fails = round % 2 == 0;
      const auto step = [&](std::size_t s) {
        for (const node_id in : inputs[s])
          if (done[static_cast<std::size_t>(in)] != 1) throw std::logic_error("ran before what it waits for");
        if (fails && tg::random_block({seed, 2, static_cast<std::uint32_t>(round)}, s)[0] % 16 == 0)
          throw std::runtime_error("step failed");
        ++done[s];
      };
      try {
        run(runner, *executor, step);
        for (const auto& d : done) CHECK(d == 1);
      } catch (const std::exception& e) {  // one step's error, or several in one sentence
        CHECK_THAT(e.what(), Catch::Contains("step failed") && !Catch::Contains("ran before"));
        CHECK(fails);
        ++failures;
      }
    }
  }
  CHECK(failures > 50);
}

TEST_CASE("a run that is late says what its threads did last, and what they left") {
  struct slow final : tg::runtime::run_steps {
    void step(std::size_t) override {
      begun = true;
      std::this_thread::sleep_until(end);
    }
    void start(std::size_t, tg::runtime::completion) override {}
    std::exception_ptr named(std::size_t s, std::exception_ptr) noexcept override {
      return std::make_exception_ptr(tg::error(tg::status_code::internal, tg::sentence({"step ", s, ": not begun"})));
    }
    std::atomic<bool> begun{false};
    std::chrono::steady_clock::time_point end;
  };
  const auto executor = tg::runtime::make_cpu_executor(2);
  const hand_made plan({{}, {0}, {1}, {2}});
  for (const bool takes_part : {true, false})
    CHECK(tg::test::given_time([&](std::chrono::milliseconds limit) {
      slow steps;
      step_runner runner;
      prepare(runner, plan, {5000, 5000, 5000, 5000}, 2);
      tg::runtime::run_control control{tg::timeout(limit)};
      steps.end = std::chrono::steady_clock::now() + limit + std::chrono::milliseconds(1);
      runner.run(control, executor.get(), takes_part, steps);
      if (!steps.begun) return false;  // it was late before
      CHECK_THROWS_WITH(control.finish(), Catch::EndsWith("; done last: step 0; not finished: step 1; step 2; step 3"));
      return true;
    }));
}

/// Waits until `arrived` is `expected`, for a minute at most; true if it came to that.
bool meet(std::atomic<int>& arrived, int expected) {
  ++arrived;
  for (int i = 0; i < 1000 && arrived < expected; ++i) std::this_thread::yield();
  return tg::test::comes([&] { return arrived >= expected; });
}

TEST_CASE("independent steps run at the same time") {
  const auto executor = tg::runtime::make_cpu_executor(2);
  const hand_made plan({{}, {0}, {0}, {1, 2}});
  const std::vector<double> costs(4, 5000);
  step_runner runner;
  prepare(runner, plan, costs, 2);
  CHECK(runner.longest_chain() == 15000);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived{0};
    std::atomic<bool> together{true};
    run(runner, *executor, [&](std::size_t s) {
      if ((s == 1 || s == 2) && !meet(arrived, 2)) together = false;
    });
    CHECK(together);
  }
}

TEST_CASE("a kernel gets the threads that no step keeps busy") {
  const auto executor = tg::runtime::make_cpu_executor(2);
  const hand_made plan({{}, {0}});
  const std::vector<double> costs(2, 5000);
  step_runner runner;
  prepare(runner, plan, costs, 2);
  std::atomic<int> arrived{0};
  std::atomic<bool> together{true};
  run(runner, *executor, [&](std::size_t s) {
    if (s == 1)
      executor->parallel_for(2, [&](std::int64_t) {
        if (!meet(arrived, 2)) together = false;
      });
  });
  CHECK(together);
}

TEST_CASE("several runs share the threads of one executor") {
  const auto executor = tg::runtime::make_cpu_executor(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (std::uint64_t c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      std::vector<double> costs;
      const auto inputs = random_inputs(c, 100, costs);
      const hand_made plan(inputs);
      step_runner runner;
      prepare(runner, plan, costs, 3);
      for (int round = 0; round < 30; ++round) {
        std::atomic<int> steps{0};
        run(runner, *executor, [&](std::size_t) { executor->parallel_for(3, [&](std::int64_t) { ++steps; }); });
        if (steps != 300) ++wrong;
      }
    });
  for (std::thread& t : callers) t.join();
  CHECK(wrong == 0);
}

/// Ends asynchronous steps a little later, on a thread of its own, and cancels runs in between.
class finisher {
 public:
  finisher() : thread_([this] { work(); }) {}
  ~finisher() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    thread_.join();
  }
  void add(tg::runtime::completion done, bool fails) {
    const std::lock_guard lock(mutex_);
    list_.push_back({done, fails});
  }
  void cancel_next(tg::cancellation& stop) {
    const std::lock_guard lock(mutex_);
    stop_ = &stop;
  }
  /// Returns when it will not touch the cancellation any more.
  void forget() {
    const std::lock_guard lock(mutex_);
    stop_ = nullptr;
  }

 private:
  struct waiting {
    tg::runtime::completion done;
    bool fails;
  };
  void work() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (over_) return;
        if (stop_ != nullptr) stop_->cancel();
        stop_ = nullptr;
        for (const waiting& w : list_)
          if (w.fails)
            w.done.fail(tg::status_code::aborted, "wait failed");
          else
            w.done.succeed();
        list_.clear();
      }
      std::this_thread::yield();
    }
  }

  std::mutex mutex_;
  std::vector<waiting> list_;
  tg::cancellation* stop_ = nullptr;
  bool over_ = false;
  std::thread thread_;
};

TEST_CASE("random waits, failures, cancellations and deadlines: a run ends once all its steps have") {
  const auto executor = tg::runtime::make_cpu_executor(3);
  const auto pool = tg::runtime::make_cpu_step_pool(2, "");
  finisher later;
  std::size_t steps = 0, whole = 0, failed = 0;
  for (std::uint64_t seed = 0; steps < 10'000; ++seed) {
    std::vector<double> costs;
    const auto inputs = random_inputs(seed, 50, costs);
    const hand_made plan(inputs);
    step_runner runner;
    runner.set_plan(plan.view);
    const auto chance = [&](std::uint32_t stream, std::size_t s) { return tg::random_block({seed, stream, 0}, s)[0]; };
    for (std::size_t s = 0; s < inputs.size(); ++s)
      if (chance(3, s) % 4 == 0) runner.set_asynchronous(s);
    for (std::size_t s = inputs.size(); s-- > 0;) runner.set_cost(s, costs[s]);
    using hold = step_runner::hold;
    std::vector<hold> held(inputs.size());
    if (seed % 3 == 0)
      runner.hold_back([&](std::size_t s) {
        const std::uint32_t r = chance(4, s) % 16;
        return held[s] = r == 0 ? hold::last : r < 4 ? hold::reads : r < 6 ? hold::writes : hold::none;
      });
    runner.set_threads(seed % 5 == 0 ? 1 : 3);
    for (std::uint32_t round = 0; round < 5; ++round, steps += inputs.size()) {
      std::vector<std::atomic<int>> done(inputs.size());
      std::atomic<int> running{0}, early{0};
      std::atomic<bool> looked{false}, inside{false};
      const std::thread::id caller = std::this_thread::get_id();
      const auto begin = [&](std::size_t s) {
        if (held[s] == hold::reads && !looked) ++early;
        if (held[s] == hold::writes && (!inside || std::this_thread::get_id() != caller)) ++early;
        for (const node_id in : inputs[s])
          if (done[static_cast<std::size_t>(in)] != 1) ++early;
        ++running;
      };
      struct steps_of_run final : tg::runtime::run_steps {
        std::function<void(std::size_t)> do_step;
        std::function<void(std::size_t, tg::runtime::completion)> do_start;
        std::atomic<bool>*looks = nullptr, *enters = nullptr;
        void enter() override { *enters = true; }
        void leave() override { *enters = false; }
        void read_variables() override { *looks = true; }
        void step(std::size_t s) override { do_step(s); }
        void start(std::size_t s, tg::runtime::completion c) override { do_start(s, c); }
        std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }
      } run;
      run.looks = &looked;
      run.enters = &inside;
      const bool fails = round == 1 || round == 2;
      run.do_step = [&](std::size_t s) {
        begin(s);
        --running;
        if (fails && chance(10 + round, s) % 32 == 0) tg::fail(tg::status_code::data_loss, "step failed");
        ++done[s];
      };
      run.do_start = [&](std::size_t s, tg::runtime::completion c) {
        begin(s);
        --running;
        ++done[s];  // only who waits for it looks, and not before it is completed
        if (chance(5, s) % 3 == 0) return c.succeed();
        later.add(c, fails && chance(20 + round, s) % 16 == 0);
      };
      tg::cancellation stop;
      tg::run_limits limits = tg::stop_with(stop);
      if (round == 3) limits.timeout_ns = 1 + static_cast<std::int64_t>(chance(6, 0) % 300'000);
      if (round == 4) later.cancel_next(stop);
      tg::runtime::run_control control{limits};
      if (seed % 2 == 0)
        runner.run(control, executor.get(), true, run);
      else
        runner.run(control, pool.get(), false, run);
      later.forget();
      CHECK(running == 0);
      CHECK(early == 0);
      try {
        control.finish();
        for (const auto& d : done) CHECK(d == 1);
        ++whole;
      } catch (const tg::error&) {
        CHECK(round > 0);
        ++failed;
      }
    }
  }
  CHECK(whole >= 40);
  CHECK(failed > 20);
}

TEST_CASE("the longest chain goes through the slowest of those that wait") {
  const hand_made fork({{}, {0}, {0}, {0}});
  for (const std::size_t slow : {1u, 2u, 3u}) {
    std::vector<double> costs{1000, 2000, 2000, 2000};
    costs[slow] = 9000;
    step_runner runner;
    prepare(runner, fork, costs, 2);
    CHECK(runner.longest_chain() == 10000);
  }
}

TEST_CASE("a step with more cheap ones behind it than a thread keeps for itself") {
  for (const int threads : {1, 3})
    for (const std::size_t count : {15u, 16u, 17u, 18u, 33u, 100u}) {
      std::vector<std::vector<node_id>> inputs(count + 2);
      for (std::size_t i = 1; i <= count; ++i) inputs[i].push_back(0), inputs.back().push_back(static_cast<node_id>(i));
      const hand_made star(inputs);
      const auto executor = tg::runtime::make_cpu_executor(threads);
      step_runner runner;
      prepare(runner, star, std::vector<double>(inputs.size(), 100), threads);
      std::vector<std::atomic<int>> done(inputs.size());
      run(runner, *executor, [&](std::size_t s) { ++done[s]; });
      int wrong = 0;
      for (const auto& d : done) wrong += d != 1;
      INFO(count << " steps, " << threads << " threads");
      CHECK(wrong == 0);
    }
}

TEST_CASE("the failure of a step that waits ends the others that wait, though only the caller is there to tell them") {
  struct waiting final : tg::runtime::run_steps, tg::runtime::stop_hook {
    explicit waiting(tg::runtime::run_control& c) : control(c) {}
    void step(std::size_t) override {}
    void start(std::size_t s, tg::runtime::completion d) override {
      done[s] = d;
      if (s == 1 && !control.add(*this)) d.cancel();
      ++begun;
    }
    std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }
    void stop() noexcept override {
      told = true;
      if (!ended.exchange(true)) done[1].cancel();
    }
    tg::runtime::run_control& control;
    tg::runtime::completion done[2];
    std::atomic<int> begun{0};
    std::atomic<bool> told{false}, ended{false};  // of step 1
  };
  const hand_made plan({{}, {}});
  const auto executor = tg::runtime::make_cpu_executor(1);
  step_runner runner;
  runner.set_plan(plan.view);
  runner.set_asynchronous(0);
  runner.set_asynchronous(1);
  runner.set_threads(1);
  tg::runtime::run_control control{tg::run_limits{}};
  waiting steps(control);
  std::atomic<bool> in_time{false};
  std::thread elsewhere([&] {
    while (steps.begun < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a rule the caller sleeps by then
    steps.done[0].fail(tg::status_code::data_loss, "gone");
    in_time = tg::test::comes([&] { return steps.told.load(); });
    if (!in_time && !steps.ended.exchange(true)) steps.done[1].succeed();
  });
  runner.run(control, executor.get(), true, steps);
  elsewhere.join();
  CHECK(in_time);
  CHECK_THROWS_WITH(control.finish(), "DataLoss: gone");
}

TEST_CASE("of the steps that are ready, the one with most work behind it is done first") {
  const auto executor = tg::runtime::make_cpu_executor(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<double> costs;
    for (std::uint64_t i = 0; i < 40; ++i) costs.push_back(2000 + tg::random_block({seed, 2, 0}, i)[0] % 100'000);
    const hand_made plan(std::vector<std::vector<node_id>>(costs.size()));
    step_runner runner;
    prepare(runner, plan, costs, 1);
    std::vector<double> order;
    run(runner, *executor, [&](std::size_t s) { order.push_back(costs[s]); });
    CHECK(order.size() == costs.size());
    CHECK(std::is_sorted(order.rbegin(), order.rend()));
  }
}

TEST_CASE("a run that has failed does not ask for the variables of the steps that it kept back") {
  struct failing final : tg::runtime::run_steps {
    void step(std::size_t s) override {
      done.push_back(s);
      if (s == fails_at) throw tg::error(tg::status_code::data_loss, "gone");
    }
    void start(std::size_t, tg::runtime::completion) override {}
    std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }
    void enter() override { ++entered; }
    std::vector<std::size_t> done;
    std::size_t fails_at = 0;
    int entered = 0;
  };
  const hand_made plan({{}, {}, {1}});
  const auto executor = tg::runtime::make_cpu_executor(1);
  step_runner runner;
  runner.set_plan(plan.view);
  runner.hold_back([](std::size_t s) { return s == 1 ? step_runner::hold::last : step_runner::hold::none; });
  runner.set_threads(1);
  for (const std::size_t fails_at : {0u, 9u}) {
    failing steps;
    steps.fails_at = fails_at;
    tg::runtime::run_control control{tg::run_limits{}};
    runner.run(control, executor.get(), true, steps);
    CHECK(steps.entered == (fails_at == 0 ? 0 : 1));
    CHECK(steps.done == (fails_at == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 1, 2}));
    CHECK(control.stopped() == (fails_at == 0));
  }
}

}  // namespace
