// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/pinned_pool.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/device/fake/driver.hpp"

namespace {

namespace tg = tagma;
using tg::device::fake::driver;
using tg::device::fake::fault;
using namespace tg::device::stream;

TEST_CASE("a buffer that is given back serves the next request of its size") {
  driver d;
  pinned_pool pool(d);
  std::byte* first = nullptr;
  {
    const pinned_buffer a = pool.allocate(5000);
    CHECK(a.size() == 5000);
    first = a.data();
    CHECK(pool.idle() == 0);
  }
  CHECK(pool.idle() == 8192);
  const pinned_buffer b = pool.allocate(8000);
  CHECK(b.data() == first);
  CHECK(pool.idle() == 0);
  const pinned_buffer c = pool.allocate(8000);
  CHECK(c.data() != first);
  CHECK(pool.allocate(0).data() == nullptr);
}

TEST_CASE("no more is kept than the bound, and nothing after trim") {
  driver d;
  {
    pinned_pool pool(d, 3 * 4096);
    std::vector<pinned_buffer> buffers;
    for (int i = 0; i < 5; ++i) buffers.push_back(pool.allocate(100));
    CHECK(d.counts().blocks == 5);
    buffers.clear();
    CHECK(pool.idle() == 3 * 4096);
    CHECK(d.counts().blocks == 3);
    pool.trim();
    CHECK(d.counts().blocks == 0);
    static_cast<void>(pool.allocate(1));
    CHECK(d.counts().blocks == 1);
  }
  CHECK(d.counts().blocks == 0);
}

TEST_CASE("of one size no more than 32 buffers are kept, whatever the bound") {
  driver d;
  pinned_pool pool(d);
  std::vector<pinned_buffer> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(pool.allocate(4096));
  for (int i = 0; i < 3; ++i) buffers.push_back(pool.allocate(4097));
  buffers.clear();
  CHECK(pool.idle() == 32 * 4096 + 3 * 8192);
  CHECK(d.counts().blocks == 35);
  for (int i = 0; i < 40; ++i) buffers.push_back(pool.allocate(4096));
  CHECK(pool.idle() == 3 * 8192);
  CHECK(d.counts().blocks == 43);
}

TEST_CASE("what nobody uses goes back before a request fails") {
  driver d({.pinned = 12 * 4096});
  pinned_pool pool(d);
  static_cast<void>(pool.allocate(8 * 4096));
  CHECK(pool.idle() == 8 * 4096);
  const pinned_buffer a = pool.allocate(5 * 4096 - 5000);  // 4 pages
  const pinned_buffer b = pool.allocate(4 * 4096);
  CHECK(b.data() != nullptr);
  CHECK_THROWS_WITH(pool.allocate(8 * 4096), Catch::StartsWith("ResourceExhausted: the system does not pin 32768"));
  CHECK_THROWS_AS(pool.allocate(~std::size_t{0}), tg::error);
}

}  // namespace
