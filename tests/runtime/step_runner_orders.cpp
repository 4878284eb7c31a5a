// SPDX-License-Identifier: BSL-1.0
// The runner of steps with points in front of its accesses to atomic values and around its mutex.
#include "support/orders.hpp"

#if defined(TAGMA_ALL_AT_ONCE)
namespace watched = tagma;
#else
namespace watched {
using tagma::memory_order, tagma::condition;
using mutex = tagma::watched_mutex;
using mutex_lock = tagma::watched_mutex_lock;
template <class T>
using atomic = tagma::watched_atomic<T>;
}  // namespace watched
#include "tagma/base/epilogue.hpp"
#undef TAGMA_COMPILED  // the library has nothing of this namespace
#define tagma watched
#include "tagma/runtime/step_runner.hpp"
#undef tagma
#endif

namespace {

struct some_operation {
  static constexpr std::string_view name = "some";
  static constexpr watched::ir::op_kind kind = watched::ir::op_kind::compute;
  static constexpr const char* infer(watched::ir::infer_args&) { return nullptr; }
};

/// Keeps the completion of its only step.
struct waiting final : watched::runtime::run_steps {
  void step(std::size_t) override {}
  void start(std::size_t, watched::runtime::completion d) override {
    done = d;
    begun = true;
  }
  std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }
  watched::runtime::completion done;
  std::atomic<bool> begun{false};
};

/// Helpers that come at once, so that who asks for the run does no step and takes no lock for it.
struct helper_at_once final : watched::runtime::step_pool {
  bool offer(watched::runtime::shared_work& w) override {
    work = &w;
    return true;
  }
  void call_helpers(int) override { work->help(); }
  void withdraw(watched::runtime::shared_work&) override {}
  [[nodiscard]] int step_threads() const override { return 1; }
  watched::runtime::shared_work* work = nullptr;
};

/// A token that a run which sleeps looks at every ten milliseconds, and sees what else has changed.
struct never_stopped {
  [[nodiscard]] bool stop_requested() const { return false; }
};

TEST_CASE("a run does not return before whoever completed its last step is out of the runner") {
  using watched::plan::plan_node, watched::plan::plan_step;
  plan_node node;
  node.op = &watched::ir::info<some_operation>;
  node.step = 0;
  const std::vector<plan_node> nodes{node};
  const std::vector<plan_step> steps{{0, 0, 0, false}};
  watched::plan::plan_view plan;
  plan.nodes = nodes;
  plan.steps = steps;

  std::vector<bool> returned_at;  // by then the run had returned
  for (int points = 0;; ++points) {
    watched::runtime::step_runner runner;
    runner.set_plan(plan);
    runner.set_asynchronous(0);
    runner.set_threads(1);
    const never_stopped token;
    watched::runtime::run_control control{watched::stop_with(token)};
    waiting run;
    std::atomic<bool> returned{false};
    bool visited = false, early = false;
    std::thread elsewhere([&] {
      while (!run.begun) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const tagma::test::visitor between(points, [&] {
        visited = true;
        for (int ms = 0; ms < 50 && !returned; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        early = returned;
      });
      run.done.succeed();
    });
    helper_at_once helper;
    runner.run(control, &helper, false, run);
    returned = true;
    elsewhere.join();
    CHECK_NOTHROW(control.finish());
    if (!visited) break;
    returned_at.push_back(early);
  }
  // Behind the last point, the one after the lock was given up, nothing of the runner is touched.
  for (std::size_t p = 0; p + 1 < returned_at.size(); ++p) {
    INFO("after " << p << " points of " << returned_at.size());
    CHECK_FALSE(returned_at[p]);
  }
}

}  // namespace
