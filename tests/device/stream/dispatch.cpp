// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/dispatch.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "support/cells.hpp"
#include "support/comes.hpp"
#include "support/errors.hpp"

namespace {

namespace tg = tagma;
using namespace tg::device::stream;
using tagma_tests::cell;
using tagma_tests::cell_memory;
using tagma_tests::cell_program;
namespace fake = tg::device::fake;

const tg::runtime::run_guard unlimited({});

std::vector<cell> some_memory(const cell_program& program) {
  std::vector<cell> memory(program.places());
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = tg::random_block({3, 1, 0}, i);
  return memory;
}

TEST_CASE("random programs compute on two devices what they compute step by step") {
  std::int64_t replayed = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const cell_program program(seed, 10 + seed % 50, 2);
    for (const bool capture : {false, true}) {
      INFO("seed " << seed << (capture ? " with capture" : ""));
      fake::driver driver({.devices = 2, .seed = seed, .eager = seed % 3 == 0 ? 0 : 16 << seed % 4});
      cell_memory memory(driver, program);
      dispatcher d(driver, program.list(), {.compute_streams = 1 + static_cast<int>(seed % 4), .capture = capture});
      auto expected = some_memory(program);
      memory.store(expected);
      for (int run = 0; run < 4; ++run) {
        program.compute(expected);
        d.run(memory, unlimited);
        CHECK(driver.counts().pending == 0);
        CHECK(memory.load() == expected);
      }
      replayed += driver.counts().graphs_launched;
      CHECK((d.captured() > 0) == (driver.counts().graphs_launched > 0));
    }
  }
  CHECK(replayed > 300);
}

/// Passes everything on, except that it forgets one wait.
class forgetful final : public tg::runtime::stream_driver {
 public:
  forgetful(fake::driver& to, std::int64_t forgotten) : to_(to), forgotten_(forgotten) {}
  using event_ref = tg::runtime::event_ref;
  using stream_ref = tg::runtime::stream_ref;
  using graph_ref = tg::runtime::graph_ref;
  using memory_place = tg::runtime::memory_place;

  int devices() override { return to_.devices(); }
  std::string name(int device) override { return to_.name(device); }
  tg::runtime::device_memory memory(int device) override { return to_.memory(device); }
  int make_current(int device) override { return to_.make_current(device); }
  void restore(int before) noexcept override { to_.restore(before); }
  void connect(int from, int to) override { to_.connect(from, to); }
  std::byte* allocate(int device, std::size_t bytes) override { return to_.allocate(device, bytes); }
  void deallocate(int device, std::byte* data) noexcept override { to_.deallocate(device, data); }
  std::byte* allocate_pinned(std::size_t bytes) override { return to_.allocate_pinned(bytes); }
  void deallocate_pinned(std::byte* data) noexcept override { to_.deallocate_pinned(data); }
  bool pin(std::byte* data, std::size_t bytes) override { return to_.pin(data, bytes); }
  void unpin(std::byte* data) noexcept override { to_.unpin(data); }
  stream_ref make_stream(int device) override { return to_.make_stream(device); }
  void destroy(stream_ref s) noexcept override { to_.destroy(s); }
  event_ref make_event(int device) override { return to_.make_event(device); }
  event_ref make_timer(int device) override { return to_.make_timer(device); }
  void destroy(event_ref e) noexcept override { to_.destroy(e); }
  void record(event_ref e, stream_ref s) override { to_.record(e, s); }
  void wait(stream_ref s, event_ref e) override {
    if (waits++ != forgotten_) to_.wait(s, e);
  }
  bool reached(event_ref e) override { return to_.reached(e); }
  bool host_wait(event_ref e, std::int64_t ns) override { return waits++ == forgotten_ || to_.host_wait(e, ns); }
  std::int64_t elapsed_ns(event_ref from, event_ref to) override { return to_.elapsed_ns(from, to); }
  void drain(stream_ref s) noexcept override { to_.drain(s); }
  void copy(stream_ref s, memory_place to, memory_place from, std::size_t n) override { to_.copy(s, to, from, n); }
  void fill(stream_ref s, std::byte* to, unsigned char v, std::size_t n) override { to_.fill(s, to, v, n); }
  void call_host(stream_ref s, void (*f)(void*), void* context) override { to_.call_host(s, f, context); }
  void begin_capture(stream_ref s) override { to_.begin_capture(s); }
  graph_ref end_capture(stream_ref s) override { return to_.end_capture(s); }
  void abandon_capture(stream_ref s) noexcept override { to_.abandon_capture(s); }
  void launch(graph_ref g, stream_ref s) override { to_.launch(g, s); }
  void destroy(graph_ref g) noexcept override { to_.destroy(g); }

  std::int64_t waits = 0;

 private:
  fake::driver& to_;
  std::int64_t forgotten_;
};

/// Edges that only storage asks for, so that each wait is there for a conflict.
cell_program without_control_edges(std::uint64_t seed, std::size_t size) {
  cell_program program(seed, size, 2);
  std::vector<std::int32_t> first{0};
  std::vector<step_id> waits;
  for (std::size_t s = 0; s < size; ++s) {
    for (const step_id w : program.list().waits_of(s)) {
      const auto& a = program.steps[s];
      const auto& b = program.steps[static_cast<std::size_t>(w)];
      const auto same = [&](const auto& p, const auto& q) { return program.number(p) == program.number(q); };
      bool conflict = same(a.out, b.out);
      for (const auto& p : a.in) conflict = conflict || same(p, b.out);
      for (const auto& p : b.in) conflict = conflict || same(p, a.out);
      if (conflict) waits.push_back(w);
    }
    first.push_back(static_cast<std::int32_t>(waits.size()));
  }
  program.first_wait = first;
  program.waits = waits;
  return program;
}

TEST_CASE("every single wait is needed, and the fake device tells when one is missing") {
  std::int64_t forgotten = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const cell_program program = without_control_edges(seed, 30);
    for (std::int64_t w = -1;; ++w) {
      fake::driver driver({.devices = 2, .seed = seed});
      cell_memory memory(driver, program);
      forgetful without(driver, w);
      dispatcher d(without, program.list(), {.compute_streams = 3, .capture = false});
      const std::size_t finals = assign_streams(program.list(), 3).final_waits().size();
      auto expected = some_memory(program);
      memory.store(expected);
      std::string problem;
      try {
        d.run(memory, unlimited);
      } catch (const tg::error& e) {
        problem = e.what();
      }
      INFO("seed " << seed << ", wait " << w << " of " << without.waits);
      if (w < 0) {
        CHECK(problem.empty());
        continue;
      }
      if (problem.empty() && w >= without.waits - static_cast<std::int64_t>(finals)) break;  // those at the end
      CHECK_THAT(problem, Catch::Contains("does not wait for it"));
      CHECK_THAT(problem, Catch::StartsWith("Internal: step "));
      ++forgotten;
    }
  }
  CHECK(forgotten > 100);
}

TEST_CASE("random orders alone show a missing wait in the results") {
  // The device is not asked to check.
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const cell_program program = without_control_edges(seed % 6, 30);
    fake::driver driver({.devices = 2, .seed = seed, .checks_order = false});
    cell_memory memory(driver, program);
    forgetful without(driver, static_cast<std::int64_t>(seed % 10));
    dispatcher d(without, program.list(), {.compute_streams = 3, .capture = false});
    auto expected = some_memory(program);
    memory.store(expected);
    program.compute(expected);
    d.run(memory, unlimited);
    wrong += memory.load() != expected;
  }
  CHECK(wrong > 10);
}

TEST_CASE("whatever fails, the streams are empty afterwards and the next run is whole") {
  constexpr fake::fault faults[] = {fake::fault::launch, fake::fault::copy, fake::fault::record, fake::fault::capture,
                                    fake::fault::execution};
  int failures = 0, unhurt = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const cell_program program(seed, 40, 2);
    for (const bool capture : {false, true}) {
      INFO("seed " << seed << (capture ? " with capture" : ""));
      fake::driver driver({.devices = 2, .seed = seed});
      cell_memory memory(driver, program);
      dispatcher d(driver, program.list(), {.compute_streams = 3, .capture = capture});
      for (std::uint32_t run = 0; run < 6; ++run) {
        auto expected = some_memory(program);
        memory.store(expected);
        program.compute(expected);
        const auto r = tg::random_block({seed, 4, run}, 0);
        if (run % 2 == 1)
          driver.fail_at(faults[r[0] % 5], 1 + static_cast<int>(r[1] % 12), tg::status_code::unavailable);
        bool failed = false;
        try {
          d.run(memory, unlimited);
        } catch (const tg::error& e) {
          failed = true;
          CHECK(e.code() == tg::status_code::unavailable);
          CHECK_THAT(e.what(), Catch::StartsWith("Unavailable: step "));
        }
        CHECK(driver.counts().pending == 0);
        for (const fake::fault f : faults) driver.fail_at(f, 0);
        if (!failed) CHECK(memory.load() == expected);
        (failed ? failures : unhurt) += run % 2 == 1;
      }
    }
  }
  CHECK(failures > 150);
  CHECK(unhurt > 10);
}

/// Kernels in a chain on one device: 0 -> 1 -> ..., with a step of the host where asked for.
struct chain {
  std::vector<step> steps;
  std::vector<std::int32_t> first{0};
  std::vector<step_id> waits;

  explicit chain(const std::vector<step_kind>& kinds) {
    for (const step_kind k : kinds) {
      steps.push_back({k, true, 0, 0, 1});
      if (steps.size() > 1) waits.push_back(static_cast<step_id>(steps.size() - 2));
      first.push_back(static_cast<std::int32_t>(waits.size()));
    }
  }
  [[nodiscard]] step_list list() const { return {steps, first, waits}; }
};

/// Steps that count how often they are issued and done.
struct counting final : step_functions {
  fake::driver* driver = nullptr;
  std::vector<int> issued, done;
  std::uint64_t argument = 1;
  tg::cancellation* cancel_at_host = nullptr;
  bool throws_at_host = false;
  std::int64_t kernel_ns = 1000;

  counting(fake::driver& d, std::size_t n) : driver(&d), issued(n), done(n) {}
  void launch(std::size_t s, tg::runtime::stream_ref stream) override {
    ++issued[s];
    driver->launch_kernel(
        stream, [this, s] { ++done[s]; }, {}, describe(s), kernel_ns);
  }
  copy_request copy(std::size_t) override { return {}; }
  void run_host(std::size_t s) override {
    if (cancel_at_host != nullptr) cancel_at_host->cancel();
    if (throws_at_host) throw std::runtime_error("no luck");
    ++issued[s];
    ++done[s];
  }
  [[nodiscard]] std::string describe(std::size_t s) const override {
    return "relu #" + std::to_string(s) + " on /device:GPU:0";
  }
  [[nodiscard]] std::uint64_t arguments(std::size_t, std::size_t) const override { return argument; }
};

constexpr auto k = step_kind::kernel;
constexpr auto h = step_kind::host;

TEST_CASE("a segment is recorded when it meets the same arguments again, and launched as one from then on") {
  const chain plan({k, k, k, h, k, k, h, k});
  fake::driver driver;
  counting steps(driver, 8);
  dispatcher d(driver, plan.list());
  d.run(steps, unlimited);
  CHECK(steps.issued == std::vector<int>(8, 1));
  CHECK(d.captured() == 0);
  d.run(steps, unlimited);
  CHECK(d.captured() == 2);  // the last one has a single step
  CHECK(driver.counts().graphs_launched == 2);
  CHECK(steps.done == std::vector<int>(8, 2));
  const std::int64_t kernels = driver.counts().kernels;
  d.run(steps, unlimited);
  CHECK(driver.counts().kernels == kernels + 1);
  CHECK(steps.done == std::vector<int>(8, 3));

  steps.argument = 2;  // an address has changed
  d.run(steps, unlimited);
  CHECK(d.captured() == 0);
  CHECK(driver.counts().graphs == 0);
  d.run(steps, unlimited);
  CHECK(d.captured() == 2);
  CHECK(steps.done == std::vector<int>(8, 5));
}

TEST_CASE("arguments that differ in each run are never recorded") {
  const chain plan({k, k, k});
  fake::driver driver;
  counting steps(driver, 3);
  dispatcher d(driver, plan.list());
  for (int run = 1; run <= 4; ++run, ++steps.argument) {
    d.run(steps, unlimited);
    CHECK(steps.issued == std::vector<int>(3, run));
  }
  CHECK(driver.counts().graphs_launched == 0);
}

TEST_CASE("what cannot be recorded is run step by step") {
  const chain plan({k, k, k});
  fake::driver driver;
  counting steps(driver, 3);
  dispatcher d(driver, plan.list());
  d.run(steps, unlimited);
  driver.fail_at(fake::fault::capture, 1);
  for (int run = 2; run <= 4; ++run) {
    d.run(steps, unlimited);
    CHECK(steps.done == std::vector<int>(3, run));
    CHECK(d.captured() == 0);
  }
}

TEST_CASE("a step that is not replayable is launched in every run") {
  chain plan({k, k, k, k, k});
  plan.steps[2].replayable = false;
  fake::driver driver;
  counting steps(driver, 5);
  dispatcher d(driver, plan.list());
  for (int run = 1; run <= 4; ++run) d.run(steps, unlimited);
  CHECK(steps.issued == std::vector<int>{2, 2, 4, 2, 2});
  CHECK(steps.done == std::vector<int>(5, 4));
}

/// Is told which steps have ended; they have by then.
struct told_of_ends : step_functions {
  explicit told_of_ends(counting& c) : steps(c) {}
  void launch(std::size_t s, tg::runtime::stream_ref stream) override { steps.launch(s, stream); }
  copy_request copy(std::size_t s) override { return steps.copy(s); }
  void run_host(std::size_t s) override { steps.run_host(s); }
  [[nodiscard]] std::string describe(std::size_t s) const override { return steps.describe(s); }
  [[nodiscard]] std::uint64_t arguments(std::size_t first, std::size_t) const override {
    asked.push_back(first);
    return steps.argument;
  }
  void ended(std::size_t s) override {
    CHECK(steps.done[s] == run);
    for (std::size_t behind = s + 1; behind < steps.done.size(); ++behind) CHECK(steps.done[behind] == run - 1);
    if (s == failing) throw tg::error(tg::status_code::internal, "too many rows");
    ends.push_back(s);
  }
  counting& steps;
  int run = 1;
  std::size_t failing = 99;
  std::vector<std::size_t> ends;
  mutable std::vector<std::size_t> asked;
};

TEST_CASE("the host waits for a step that is awaited before it issues what follows") {
  chain plan({k, k, k, h, k, k, k});
  plan.steps[1].awaited = plan.steps[4].awaited = plan.steps[6].awaited = true;
  for (const bool capture : {false, true}) {
    fake::driver driver({.eager = 0});
    counting steps(driver, 7);
    told_of_ends functions(steps);
    dispatcher d(driver, plan.list(), {.capture = capture});
    for (int run = 1; run <= 4; ++run) {
      functions.run = run;
      functions.ends.clear();
      functions.asked.clear();
      d.run(functions, unlimited);
      CHECK(functions.ends == std::vector<std::size_t>{1, 4, 6});
      CHECK(steps.done == std::vector<int>(7, run));
      // Only segments of two steps or more are recorded; each is asked about when what is before it has ended.
      CHECK(functions.asked == (capture ? std::vector<std::size_t>{0, 5} : std::vector<std::size_t>{}));
    }
    CHECK(d.captured() == (capture ? 2 : 0));
    functions.run = 5;
    functions.failing = 4;
    CHECK_THROWS_WITH(d.run(functions, unlimited), Catch::Contains("relu #4 on /device:GPU:0: too many rows"));
    CHECK(driver.counts().pending == 0);
  }
}

TEST_CASE("branches overlap, replayed or not") {
  // Two chains of four kernels, joined by a ninth.
  std::vector<step> steps(9, step{k, true, 0, 0, 1});
  const std::vector<std::int32_t> first{0, 0, 0, 1, 2, 3, 4, 5, 6, 8};
  const std::vector<step_id> waits{0, 1, 2, 3, 4, 5, 6, 7};
  for (const bool capture : {false, true}) {
    fake::driver driver;
    counting functions(driver, 9);
    dispatcher d(driver, {steps, first, waits}, {.capture = capture});
    for (int run = 1; run <= 3; ++run) {
      const std::int64_t before = driver.simulated_ns();
      d.run(functions, unlimited);
      CHECK(driver.simulated_ns() - before == 5000);
    }
  }
}

TEST_CASE("errors of steps of the host keep their code and name the step") {
  const chain plan({k, h, k});
  for (const bool capture : {false, true}) {
    fake::driver driver;
    counting steps(driver, 3);
    steps.throws_at_host = true;
    dispatcher d(driver, plan.list(), {.capture = capture});
    CHECK_THROWS_WITH(d.run(steps, unlimited), "Internal: relu #1 on /device:GPU:0: no luck");
    CHECK(steps.issued[2] == 0);
    CHECK(driver.counts().pending == 0);
  }
}

TEST_CASE("a failure on the device is thrown by the wait that meets it") {
  const chain plan({k, k, h});
  for (const bool capture : {false, true}) {
    fake::driver driver;
    counting steps(driver, 3);
    dispatcher d(driver, plan.list(), {.capture = capture});
    driver.fail_at(fake::fault::execution, 1, tg::status_code::data_loss);
    CHECK_THROWS_WITH(d.run(steps, unlimited),
                      "DataLoss: relu #1 on /device:GPU:0, waiting until it is done: relu #0 on "
                      "/device:GPU:0 fails on the device");
    CHECK(steps.done == std::vector<int>{0, 0, 0});
    CHECK_NOTHROW(d.run(steps, unlimited));
    CHECK(steps.done == std::vector<int>{1, 1, 1});
  }
}

TEST_CASE("a cancelled run issues nothing more and leaves nothing behind") {
  const chain plan({k, h, k, k});
  for (const bool capture : {false, true}) {
    fake::driver driver;
    counting steps(driver, 4);
    tg::cancellation token;
    steps.cancel_at_host = &token;
    dispatcher d(driver, plan.list(), {.capture = capture});
    CHECK_THROWS_WITH(d.run(steps, tg::runtime::run_guard(tg::stop_with(token))), Catch::StartsWith("Cancelled: "));
    CHECK(steps.issued == std::vector<int>{1, 1, 0, 0});
    CHECK(driver.counts().pending == 0);
  }
}

TEST_CASE("a run that is late ends with its deadline, as soon as the device lets go") {
  const chain plan({k, k});
  for (const bool capture : {false, true}) {
    const auto attempt = [&](std::chrono::milliseconds limit) {
      fake::driver driver;
      counting steps(driver, 2);
      dispatcher d(driver, plan.list(), {.capture = capture});
      driver.hold();
      const tg::test::late_watch watch(limit);
      std::atomic<bool> back{false};
      std::thread releases([&] {
        while (!watch.late() && !back) tg::test::sleep_ms(1);
        driver.release();
      });
      tg::run_limits both[] = {tg::timeout(limit), tg::stop_with(watch)};
      tg::runtime::join(both);
      const tg::error e = tg::test::thrown([&] { d.run(steps, tg::runtime::run_guard(both[0])); });
      back = true;
      releases.join();
      CHECK(e.code() == tg::status_code::deadline_exceeded);
      CHECK(driver.counts().pending == 0);
      if (steps.issued != std::vector<int>{1, 1}) return false;  // it was late before
      CHECK(std::string(e.what()) ==
            "DeadlineExceeded: relu #1 on /device:GPU:0, waiting until it is done: the run took longer than its "
            "timeout of " +
                std::to_string(limit.count()) + " ms");
      CHECK(steps.done == std::vector<int>{1, 1});
      return true;
    };
    CHECK(tg::test::given_time(attempt));
  }
}

TEST_CASE("no steps at all, and steps of the host alone") {
  fake::driver driver;
  counting steps(driver, 2);
  for (const bool capture : {false, true}) {
    dispatcher none(driver, chain({}).list(), {.capture = capture});
    CHECK_NOTHROW(none.run(steps, unlimited));
    const chain plan({h, h});
    dispatcher host(driver, plan.list(), {.capture = capture});
    host.run(steps, unlimited);
    CHECK(host.streams() == 0);
  }
  CHECK(steps.done == std::vector<int>{2, 2});
}

TEST_CASE("streams, events and graphs go with their dispatcher") {
  fake::driver driver({.devices = 2});
  const cell_program program(5, 40, 2);
  {
    cell_memory memory(driver, program);
    memory.store(some_memory(program));
    dispatcher d(driver, program.list());
    for (int run = 0; run < 3; ++run) d.run(memory, unlimited);
    CHECK(driver.counts().graphs > 0);
  }
  const auto counts = driver.counts();
  CHECK(counts.streams == 0);
  CHECK(counts.events == 0);
  CHECK(counts.graphs == 0);
  CHECK(counts.blocks == 0);
}

}  // namespace
