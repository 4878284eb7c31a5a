// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/step_runner.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

/// Waits until `arrived` is `expected`, for ten seconds at most; true if it came to that.
bool meet(std::atomic<int>& arrived, int expected) {
  ++arrived;
  for (int i = 0; i < 100'000 && arrived < expected; ++i) {
    if (i % 100 == 99)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    else
      std::this_thread::yield();
  }
  return arrived >= expected;
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

}  // namespace
