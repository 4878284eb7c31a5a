// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/fake/driver.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <vector>

namespace {

namespace tg = tagma;
using namespace tg::device::fake;
using tg::runtime::on_host;
using tg::runtime::owned_event;
using tg::runtime::owned_graph;
using tg::runtime::owned_stream;

/// A driver with two streams of device 0, an event, and a block in each place.
struct bench {
  explicit bench(driver_options options = {.devices = 2})
      : d(options),
        a(d, d.make_stream(0)),
        b(d, d.make_stream(0)),
        e(d, d.make_event(0)),
        device(d.allocate(0, 64)),
        second(d.allocate(1, 64)),
        pinned(d.allocate_pinned(64)) {}
  void finish(tg::runtime::stream_ref s) {
    d.record(e.get(), s);
    CHECK(d.host_wait(e.get(), -1));
  }
  driver d;
  owned_stream a, b;
  owned_event e;
  std::byte *device, *second, *pinned;
};

TEST_CASE("one seed gives one order, and seeds give many") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> orders_of_seed[2];
    for (auto& order : orders_of_seed) {
      bench t({.devices = 2, .seed = seed});
      for (int i = 0; i < 4; ++i) {
        t.d.launch_kernel(t.a.get(), [&order, i] { order.push_back(i); }, {});
        t.d.launch_kernel(t.b.get(), [&order, i] { order.push_back(10 + i); }, {});
      }
      t.finish(t.a.get());
      t.finish(t.b.get());
      int last[2] = {-1, 9};  // each stream keeps its own order
      for (const int i : order) {
        CHECK(i == last[i / 10] + 1);
        last[i / 10] = i;
      }
    }
    CHECK(orders_of_seed[0] == orders_of_seed[1]);
    orders.insert(orders_of_seed[0]);
  }
  CHECK(orders.size() > 8);
}

TEST_CASE("nothing is done before somebody waits, unless by chance") {
  bench t({.devices = 2, .eager = 0});
  int done = 0;
  t.d.launch_kernel(t.a.get(), [&] { ++done; }, {});
  t.d.launch_kernel(t.b.get(), [&] { ++done; }, {});
  CHECK(t.d.counts().pending == 2);
  t.finish(t.a.get());
  CHECK(done >= 1);
  t.d.drain(t.b.get());
  CHECK(done == 2);
  t.d.launch_kernel(t.a.get(), [&] { ++done; }, {});
  t.d.record(t.e.get(), t.a.get());
  while (!t.d.reached(t.e.get())) {  // asking again and again comes to an end
  }
  CHECK(done == 3);
}

TEST_CASE("fresh memory is poisoned, and copies and fills arrive") {
  bench t;
  t.d.copy(t.a.get(), {t.pinned, on_host}, {t.device, 0}, 64);
  t.finish(t.a.get());
  for (int i = 0; i < 64; ++i) CHECK(t.pinned[i] == std::byte{memory_table::poison});
  t.d.fill(t.a.get(), t.device, 7, 64);
  t.d.copy(t.a.get(), {t.second, 1}, {t.device, 0}, 64);
  t.d.copy(t.a.get(), {t.pinned + 32, on_host}, {t.device, 0}, 32);
  t.finish(t.a.get());
  CHECK(t.pinned[31] == std::byte{memory_table::poison});
  CHECK(t.pinned[32] == std::byte{7});
}

TEST_CASE("memory that is not where a program says it is") {
  bench t;
  std::byte pageable[64]{};
  const auto stream = t.a.get();
  CHECK_THROWS_WITH(t.d.copy(stream, {t.pinned, 0}, {t.device, 0}, 64), Catch::Contains("memory of the host as if"));
  CHECK_THROWS_WITH(t.d.copy(stream, {t.device, on_host}, {t.device, 0}, 8),
                    Catch::Contains("memory of device 0 as if"));
  CHECK_THROWS_WITH(t.d.copy(stream, {t.second, 0}, {t.pinned, on_host}, 64),
                    Catch::Contains("memory of device 1 as if"));
  CHECK_THROWS_WITH(t.d.copy(stream, {t.device, 0}, {pageable, on_host}, 64),
                    Catch::Contains("not, or no longer, alloc"));
  CHECK_THROWS_WITH(t.d.copy(stream, {t.device, 0}, {t.pinned, on_host}, 65),
                    Catch::Contains("not, or no longer, alloc"));
  CHECK_THROWS_WITH(t.d.launch_kernel(stream, [] {}, {{t.second, 4, false}}),
                    Catch::Contains("memory of device 1 as if"));
  CHECK_THROWS_WITH(t.d.copy(stream, {t.second, 1}, {t.second, 1}, 8), Catch::Contains("copies between others"));
  t.d.launch_kernel(stream, [] {}, {{t.device, 4, true}});
  t.d.hold();
  t.d.launch_kernel(stream, [] {}, {{t.device, 4, true}});
  t.d.deallocate(0, t.device);
  t.d.release();
  t.d.record(t.e.get(), stream);
  CHECK_THROWS_WITH(t.d.host_wait(t.e.get(), -1), Catch::Contains("given back before it was done"));
}

TEST_CASE("uses of the same memory that nothing orders are errors, whatever the seed") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    bench t({.devices = 2, .seed = seed});
    const tg::device::fake::access write{t.device, 8, true}, read{t.device + 4, 8, false},
        beside{t.device + 8, 8, true};
    t.d.launch_kernel(
        t.a.get(), [] {}, {write}, "producer");
    CHECK_THROWS_WITH(t.d.launch_kernel(
                          t.b.get(), [] {}, {read}, "consumer"),
                      "Internal: consumer reads what producer writes, and does not wait for it");
    CHECK_THROWS_AS(t.d.check_host_access(read), tg::error);
    CHECK_NOTHROW(t.d.launch_kernel(t.b.get(), [] {}, {beside}));
    t.d.record(t.e.get(), t.a.get());
    t.d.wait(t.b.get(), t.e.get());
    CHECK_NOTHROW(t.d.launch_kernel(
        t.b.get(), [] {}, {read}, "consumer"));
    CHECK_THROWS_WITH(t.d.launch_kernel(
                          t.a.get(), [] {}, {write}, "next"),
                      Catch::Contains("what consumer reads"));
    t.finish(t.b.get());
    CHECK_NOTHROW(t.d.check_host_access(read));
    CHECK_NOTHROW(t.d.launch_kernel(
        t.a.get(), [] {}, {write}, "next"));
  }
}

TEST_CASE("what CUDA forbids while it captures") {
  bench t;
  const owned_event before(t.d, t.d.make_event(0)), inside(t.d, t.d.make_event(0));
  t.d.record(before.get(), t.b.get());
  t.d.begin_capture(t.a.get());
  CHECK_THROWS_AS(t.d.begin_capture(t.b.get()), tg::error);
  CHECK_THROWS_AS(t.d.allocate(0, 8), tg::error);
  CHECK_THROWS_AS(t.d.wait(t.a.get(), before.get()), tg::error);
  t.d.record(inside.get(), t.a.get());
  CHECK_THROWS_AS(t.d.host_wait(inside.get(), -1), tg::error);
  t.d.wait(t.b.get(), inside.get());
  t.d.launch_kernel(
      t.b.get(), [] {}, {}, "lost");
  CHECK_THROWS_WITH(t.d.end_capture(t.a.get()), Catch::Contains("lost was captured in a stream that was not joined"));
  CHECK_THROWS_AS(t.d.wait(t.a.get(), inside.get()), tg::error);
  CHECK(t.d.counts().graphs == 0);
  CHECK_NOTHROW(t.d.launch_kernel(t.b.get(), [] {}, {}));
}

TEST_CASE("a graph is done as often as it is launched, between what is before and behind it") {
  bench t;
  std::vector<int> order;
  t.d.begin_capture(t.a.get());
  t.d.launch_kernel(t.a.get(), [&] { order.push_back(1); }, {});
  t.d.record(t.e.get(), t.a.get());
  t.d.wait(t.b.get(), t.e.get());
  t.d.launch_kernel(t.b.get(), [&] { order.push_back(2); }, {});
  const owned_event join(t.d, t.d.make_event(0));
  t.d.record(join.get(), t.b.get());
  t.d.wait(t.a.get(), join.get());
  const owned_graph graph(t.d, t.d.end_capture(t.a.get()));
  CHECK(order.empty());
  for (int i = 0; i < 2; ++i) {
    t.d.launch_kernel(t.a.get(), [&] { order.push_back(0); }, {});
    t.d.launch(graph.get(), t.a.get());
    t.d.launch_kernel(t.a.get(), [&] { order.push_back(3); }, {});
  }
  t.finish(t.a.get());
  CHECK(order == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("memory ends where the options say, and failures strike when they are told to") {
  bench t({.devices = 2, .memory = 1000, .taken = 200, .pinned = 100});
  CHECK(t.d.memory(0).free == 1000 - 200 - 64);
  CHECK(t.d.memory(0).total == 1000);
  CHECK(t.d.allocate(0, 737) == nullptr);
  CHECK(t.d.allocate_pinned(37) == nullptr);
  t.d.fail_at(fault::allocation, 2);
  CHECK(t.d.allocate(0, 8) != nullptr);
  CHECK(t.d.allocate(0, 8) == nullptr);
  CHECK(t.d.allocate(0, 8) != nullptr);
  t.d.fail_at(fault::launch, 1, tg::status_code::unavailable);
  CHECK_THROWS_WITH(t.d.launch_kernel(t.a.get(), [] {}, {}), Catch::StartsWith("Unavailable: "));
  int later = 0;
  t.d.launch_kernel(t.a.get(), [] { throw std::runtime_error("broken"); }, {});
  t.d.launch_kernel(t.a.get(), [&] { ++later; }, {});
  t.d.record(t.e.get(), t.a.get());
  CHECK_THROWS_WITH(t.d.host_wait(t.e.get(), -1), "Internal: broken");
  CHECK(later == 0);
  t.d.drain(t.a.get());
  t.d.launch_kernel(t.a.get(), [&] { ++later; }, {});
  t.finish(t.a.get());
  CHECK(later == 1);
}

TEST_CASE("a wait ends with its time while nothing is done") {
  bench t;
  t.d.hold();
  t.d.launch_kernel(t.a.get(), [] {}, {});
  t.d.record(t.e.get(), t.a.get());
  CHECK_FALSE(t.d.host_wait(t.e.get(), 2'000'000));
  CHECK_FALSE(t.d.reached(t.e.get()));
  t.d.release();
  CHECK(t.d.host_wait(t.e.get(), -1));
}

TEST_CASE("events belong to the streams of their device, and kernels to the current one") {
  bench t;
  const owned_stream other(t.d, t.d.make_stream(1));
  CHECK_THROWS_WITH(t.d.record(t.e.get(), other.get()), Catch::Contains("an event of device 0"));
  CHECK_THROWS_WITH(t.d.launch_kernel(other.get(), [] {}, {}), Catch::Contains("while device 0 is current"));
  const int before = t.d.make_current(1);
  CHECK_NOTHROW(t.d.launch_kernel(other.get(), [] {}, {}));
  t.d.restore(before);
  CHECK_THROWS_AS(t.d.make_current(2), tg::error);
}

}  // namespace
