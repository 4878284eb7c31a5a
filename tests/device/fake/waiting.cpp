// SPDX-License-Identifier: BSL-1.0
// Steps that wait in plans with steps on devices: they hold no thread, and the run holds no variable.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "support/latches.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/without_macros.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using namespace std::chrono_literals;
using tg::cpu;
using tg::gpu;
using tg::test::await_latch;
using tg::test::latches;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float>();

/// `e` from a device, after a latch was opened.
template <int Latch, class E>
auto awaited(const E& e) {
  return tg::on<cpu<0>>([](const auto& in) { return tg::test::apply<await_latch, Latch>(in); })(e);
}

tg::session_options options_of(bool graphs, const tg::inter_op_pool_list& pools = {}) {
  return {.inter_op_pools = pools, .gpu = {.memory_fraction = 0.5, .allow_growth = true, .graphs = graphs}};
}

TEST_CASE("runs that wait in plans with steps on devices hold no thread of their pool") {
  const auto out = tg::on<gpu<0>>([](const auto& e) { return e + 1.0F; })(
      awaited<0>(tg::on<gpu<0>>([](const auto& e) { return e * 2.0F; })(x)));
  const auto other = tg::on<gpu<0>>([](const auto& e) { return e * 3.0F; })(x);
  const auto program = tg::compile([=] { return tg::outputs(out, other); });
  for (const bool graphs : {false, true}) {
    tg::test::reset();
    fake::machine machine({.devices = 2, .seed = 7});
    tg::session session(program, options_of(graphs, {{.threads = 1}}));
    constexpr std::size_t runs = 8;
    for (int round = 0; round < 4; ++round) {
      latches[0].close();
      std::array<float, runs> found{};
      std::vector<std::thread> all;
      for (std::size_t i = 0; i < runs; ++i)
        all.emplace_back([&, i] { found[i] = session.run(out, x = static_cast<float>(i)); });
      CHECK(latches[0].see(runs));
      CHECK(session.run(other, x = 5.0F, tg::timeout(60s)) == 15);
      latches[0].open();
      for (auto& t : all) t.join();
      for (std::size_t i = 0; i < runs; ++i) CHECK(found[i] == 2 * static_cast<float>(i) + 1);
    }
  }
}

TEST_CASE("steps that need variables come last, so that others use them while a run waits") {
  const auto v = tg::on<gpu<0>>(tg::variable<"v", float>(tg::ones));
  const auto train = tg::on<gpu<0>>([&](const auto& e) { return tg::assign_add(v, e); })(awaited<0>(x));
  const auto twice = tg::on<gpu<0>>(v + v);
  const auto set = tg::on<gpu<0>>([&](const auto& e) { return tg::assign(v, e); })(x);
  const auto program = tg::compile([=] { return tg::outputs(train, twice, set); });
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables})
    for (const bool graphs : {false, true})
      for (const bool pooled : {false, true}) {
        INFO(graphs << pooled << static_cast<int>(kind));
        tg::test::reset();
        fake::machine machine({.devices = 2, .seed = 7});
        tg::session_options options = options_of(graphs);
        if (pooled) options.inter_op_pools = {{.threads = 1}};
        options.state = tg::container(kind);
        tg::session session(program, options);
        for (int round = 0; round < 3; ++round) {
          latches[0].close();
          float found = 0;
          std::thread waiting([&] { found = session.run(train, x = 10.0F); });
          CHECK(latches[0].see(1));
          session.run(set, x = 3.0F, tg::timeout(60s));
          CHECK(session.run(twice, tg::timeout(60s)) == 6);
          latches[0].open();
          waiting.join();
          CHECK(found == 13);
          CHECK(session.run(twice) == 26);
        }
      }
}

TEST_CASE("what is read and written before a wait is held by version, not by a lock") {
  const auto v = tg::on<gpu<0>>(tg::variable<"v", float>(tg::ones));
  const auto w = tg::on<gpu<0>>(tg::variable<"w", float>(tg::zeros));
  // The update of w and a value of v are sent away; the answer moves v.
  const auto counted = tg::on<gpu<0>>([&](const auto& e) { return tg::assign_add(w, e); })(x);
  const auto answer = awaited<0>(tg::on<gpu<0>>([&](const auto& e) { return e * 100.0F + v; })(counted));
  const auto moved = tg::on<gpu<0>>([&](const auto& e) { return tg::assign_add(v, e); })(answer);
  const auto set = tg::on<gpu<0>>([&](const auto& e) { return tg::assign(v, e); })(x);
  const auto set_w = tg::on<gpu<0>>([&](const auto& e) { return tg::assign(w, e); })(x);
  const auto program = tg::compile([=] { return tg::outputs(moved, answer, set, set_w, v, w); });
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables})
    for (const bool graphs : {false, true})
      for (const bool pooled : {false, true}) {
        INFO(graphs << pooled << static_cast<int>(kind));
        tg::test::reset();
        fake::machine machine({.devices = 2, .seed = 7});
        tg::session_options options = options_of(graphs);
        if (pooled) options.inter_op_pools = {{.threads = 1}};
        options.state = tg::container(kind);
        tg::session session(program, options);
        for (int round = 0; round < 3; ++round) {
          session.run(set, x = 1.0F);
          session.run(set_w, x = 0.0F);
          latches[0].close();
          float found = 0, seen = 0;
          std::thread waiting([&] { std::tie(found, seen) = session.run(tg::fetch(moved, answer), x = 2.0F); });
          CHECK(latches[0].see(1));
          CHECK(session.run(w, tg::timeout(60s)) == 2);  // written before it waits
          session.run(set, x = 5.0F, tg::timeout(60s));
          session.run(set_w, x = 7.0F, tg::timeout(60s));
          CHECK(session.run(v, tg::timeout(60s)) == 5);
          latches[0].open();
          waiting.join();
          CHECK(seen == 201);   // w and v of then
          CHECK(found == 206);  // from the value of now
          CHECK(session.run(w) == 7);
        }
      }
}

TEST_CASE("a run that waits in a plan with steps on devices ends early when it must, and the next one is whole") {
  const auto out = tg::on<gpu<0>>([](const auto& e) { return e + 1.0F; })(
      awaited<0>(tg::on<gpu<0>>([](const auto& e) { return e * 2.0F; })(x)));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  for (const bool pooled : {false, true}) {
    tg::test::reset();
    fake::machine machine({.devices = 2, .seed = 7});
    tg::session_options options = options_of(true);
    if (pooled) options.inter_op_pools = {{.threads = 1}};
    tg::session session(program, options);
    CHECK(tg::test::given_time([&](std::chrono::milliseconds limit) {
      tg::test::reset();
      CHECK(thrown([&] { session.run(out, x = 1.0F, tg::timeout(limit)); }).code() ==
            tg::status_code::deadline_exceeded);
      CHECK(latches[0].cancelled == latches[0].begun);
      return latches[0].begun == 1;
    }));
    std::thread waiting([&] {
      const tg::error e = thrown([&] { session.run(out, x = 1.0F); });
      CHECK(e.code() == tg::status_code::out_of_range);
      CHECK_THAT(e.what(), Catch::Contains("test.await #") && Catch::Contains("the latch is closed for good"));
    });
    CHECK(latches[0].see(1));
    latches[0].fail();
    waiting.join();
    CHECK_THAT(thrown([&] { session.run(out, x = -1.0F); }).what(), Catch::Contains("cannot begin"));
    latches[0].open();
    CHECK(session.run(out, x = 4.0F) == 9);
  }
}

TEST_CASE("the time of a run that waits is taken") {
  const auto out = tg::on<gpu<0>>([](const auto& e) { return e + 1.0F; })(
      awaited<0>(tg::on<gpu<0>>([](const auto& e) { return e * 2.0F; })(x)));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  tg::test::reset();
  fake::machine machine({.devices = 2, .seed = 7});
  tg::session session(program, options_of(true, {{.threads = 1}}));
  for (int run = 0; run < 3; ++run) {
    latches[0].close();
    tg::trace timeline;
    float found = 0;
    std::thread waiting([&] { found = session.run(out, x = 3.0F, tg::trace_to(timeline)); });
    CHECK(latches[0].see(1));
    latches[0].open();
    waiting.join();
    CHECK(found == 7);
    CHECK(timeline.size() >= 4);  // two kernels, the wait, and copies
  }
}

}  // namespace
