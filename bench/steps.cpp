// SPDX-License-Identifier: BSL-1.0
// What a step costs beside its kernel when threads share the steps of a run, against handlers of a
// boost::asio::thread_pool of as many threads that count down the same dependencies. Both run in turn; the ratio is of
// the medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <memory>
#include <vector>

#include "tagma/device/cpu/executor.hpp"
#include "tagma/runtime/step_runner.hpp"

namespace {

namespace tg = tagma;
using tg::ir::node_id;

struct nothing {
  static constexpr std::string_view name = "nothing";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args&) { return nullptr; }
};

/// Steps in `chains` chains of equal length.
struct graph {
  graph(int chains, int steps) : waits(static_cast<std::size_t>(steps)), after(static_cast<std::size_t>(steps), -1) {
    for (int i = 0; i < steps; ++i) {
      tg::plan::plan_node n;
      n.op = &tg::ir::info<nothing>;
      n.first_input = static_cast<std::int32_t>(inputs.size());
      n.step = i;
      if (i >= chains) {
        n.inputs = 1;
        inputs.push_back(i - chains);
        waits[static_cast<std::size_t>(i)] = 1;
        after[static_cast<std::size_t>(i - chains)] = i;
      }
      nodes.push_back(n);
      list.push_back({i, 0, 0, false});
    }
    view.nodes = nodes;
    view.steps = list;
    view.inputs = inputs;
  }
  std::vector<tg::plan::plan_node> nodes;
  std::vector<tg::plan::plan_step> list;
  std::vector<node_id> inputs;
  std::vector<int> waits, after;
  tg::plan::plan_view view;
};

std::atomic<std::uint64_t> work{0};

struct tiny_steps final : tg::runtime::run_steps {
  void step(std::size_t s) override { work.store(s, std::memory_order_relaxed); }
  void start(std::size_t, tg::runtime::completion) override {}
  std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }
};

/// The same graph by counters and posted handlers.
class posted {
 public:
  posted(const graph& g, boost::asio::thread_pool& pool) : graph_(g), pool_(pool), pending_(g.waits.size()) {}
  void run() {
    left_.store(static_cast<int>(pending_.size()));
    for (std::size_t i = 0; i < pending_.size(); ++i) pending_[i].store(graph_.waits[i], std::memory_order_relaxed);
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (graph_.waits[i] == 0) post(static_cast<int>(i));
    for (int left; (left = left_.load()) != 0;) left_.wait(left);
  }

 private:
  void post(int i) {
    boost::asio::post(pool_, [this, i] {
      work.store(static_cast<std::uint64_t>(i), std::memory_order_relaxed);
      const int next = graph_.after[static_cast<std::size_t>(i)];
      if (next >= 0 && pending_[static_cast<std::size_t>(next)].fetch_sub(1) == 1) post(next);
      if (left_.fetch_sub(1) == 1) left_.notify_all();
    });
  }
  const graph& graph_;
  boost::asio::thread_pool& pool_;
  std::vector<std::atomic<int>> pending_;
  std::atomic<int> left_{0};
};

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// @param cost of a step as the runner is told it, ns: cheap ones stay on their thread, others are handed out
void compare(benchmark::State& state, int chains, double cost) {
  constexpr int steps = 2000, threads = 2;
  const graph g(chains, steps);
  const auto executor = tg::runtime::make_cpu_executor(threads);
  tg::runtime::step_runner runner;
  runner.set_plan(g.view);
  for (std::size_t s = steps; s-- > 0;) runner.set_cost(s, cost);
  runner.set_threads(threads);
  tiny_steps tiny;
  boost::asio::thread_pool pool(threads);
  posted peer(g, pool);
  std::vector<double> ours, theirs;
  for (auto round : state) {
    const std::int64_t t0 = tg::runtime::now_ns();
    tg::runtime::run_control control{tg::run_limits{}};
    runner.run(control, executor.get(), true, tiny);
    const std::int64_t t1 = tg::runtime::now_ns();
    peer.run();
    ours.push_back(static_cast<double>(t1 - t0) / steps);
    theirs.push_back(static_cast<double>(tg::runtime::now_ns() - t1) / steps);
  }
  state.counters["ns_each"] = median(ours);
  state.counters["asio_ns_each"] = median(theirs);
  state.counters["ratio"] = median(ours) / median(theirs);
}

}  // namespace

BENCHMARK_CAPTURE(compare, independent_cheap, 2000, 200.0);
BENCHMARK_CAPTURE(compare, independent_shared, 2000, 5000.0);
BENCHMARK_CAPTURE(compare, two_chains_cheap, 2, 200.0);
BENCHMARK_CAPTURE(compare, two_chains_shared, 2, 5000.0);
BENCHMARK_CAPTURE(compare, fifty_chains_shared, 50, 5000.0);

BENCHMARK_MAIN();
