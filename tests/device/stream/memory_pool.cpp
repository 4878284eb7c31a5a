// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/memory_pool.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tagma/base/random.hpp"
#include "tagma/device/fake/driver.hpp"

namespace {

namespace tg = tagma;
using tg::device::fake::driver;
using tg::device::fake::fault;
using namespace tg::device::stream;

std::string message_of(memory_pool& pool, std::int64_t bytes, std::string_view purpose) {
  try {
    static_cast<void>(pool.allocate(bytes, purpose));
  } catch (const tg::error& e) {
    CHECK(e.code() == tg::status_code::resource_exhausted);
    return e.what();
  }
  return "no error";
}

TEST_CASE("nothing is asked of the driver before the first request, and then all that is allowed at once") {
  driver d({.memory = 8 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 0.5});
  CHECK(d.counts().blocks == 0);
  CHECK(pool.use().limit == 0);
  CHECK(pool.allocate(0, "nothing").data() == nullptr);
  CHECK(d.counts().blocks == 0);
  const device_block a = pool.allocate(100, "a");
  CHECK(a.size() == 100);
  CHECK(pool.use().limit == 4 * mebibyte);
  CHECK(pool.use().reserved == 4 * mebibyte);
  CHECK(pool.use().used == 256);
  const device_block b = pool.allocate(mebibyte, "b");
  CHECK(b.data() == a.data() + 256);
  CHECK(d.counts().blocks == 1);
}

TEST_CASE("memory that grows begins with a mebibyte and doubles") {
  driver d({.memory = 32 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 1, .allow_growth = true});
  std::vector<device_block> blocks;
  std::vector<std::int64_t> reserved;
  for (int i = 0; i < 31; ++i) {
    blocks.push_back(pool.allocate(mebibyte, "block " + std::to_string(i)));
    if (const auto r = pool.use().reserved / mebibyte; reserved.empty() || reserved.back() != r) reserved.push_back(r);
  }
  CHECK(reserved == std::vector<std::int64_t>{1, 3, 7, 15, 31});
  blocks.clear();
  CHECK(pool.use().reserved == 31 * mebibyte);  // regions stay
  CHECK(pool.use().used == 0);
  CHECK(pool.use().peak == 31 * mebibyte);
  CHECK(pool.use().largest_free == 16 * mebibyte);

  memory_pool large(d, 0, "/device:GPU:0", {.fraction = 1, .allow_growth = true});
  const device_block first = large.allocate(300'000, "small");
  CHECK(large.use().reserved == mebibyte);
}

TEST_CASE("a request larger than the next region takes as many doublings as it needs") {
  driver d({.memory = 32 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 1, .allow_growth = true});
  const device_block a = pool.allocate(5 * mebibyte, "a");
  CHECK(pool.use().reserved == 8 * mebibyte);
  const device_block b = pool.allocate(20 * mebibyte, "b");
  CHECK(pool.use().reserved == 32 * mebibyte);  // 8 + 24, since 32 do not fit
}

TEST_CASE("the smallest piece that is large enough is taken, the first of those by address") {
  driver d({.memory = 4 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 1});
  std::vector<device_block> blocks;
  for (const int kib : {4, 1, 2, 1, 3, 1, 2, 1}) blocks.push_back(pool.allocate(kib * 1024, "block"));
  std::byte* const two = blocks[2].data();
  std::byte* const second_two = blocks[6].data();
  for (const std::size_t i : {0u, 2u, 4u, 6u}) blocks[i] = {};  // free pieces of 4, 2, 3 and 2 KiB, and the rest
  const device_block a = pool.allocate(1800, "a");
  CHECK(a.data() == two);
  const device_block b = pool.allocate(2048, "b");
  CHECK(b.data() == second_two);
}

TEST_CASE("free neighbours become one piece") {
  driver d({.memory = 4 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 1});
  std::vector<device_block> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(mebibyte, "block"));
  CHECK(pool.use().largest_free == 0);
  std::byte* const data = blocks[1].data();
  blocks[1] = {};
  blocks[3] = {};
  CHECK(pool.use().largest_free == mebibyte);
  blocks[2] = {};
  CHECK(pool.use().largest_free == 3 * mebibyte);
  const device_block all = pool.allocate(3 * mebibyte, "all");
  CHECK(all.data() == data);
}

TEST_CASE("random requests never overlap, and what is given back can be had again") {
  driver d({.memory = 64 * mebibyte});
  for (const bool growth : {false, true}) {
    memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 0.4, .allow_growth = growth});
    std::vector<device_block> blocks;
    std::map<const std::byte*, std::int64_t> live;
    std::int64_t total = 0, most = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const auto r = tg::random_block({growth ? 1u : 2u, 1, 0}, i);
      if (blocks.size() > 60 || (!blocks.empty() && r[0] % 3 == 0)) {
        const std::size_t which = r[1] % blocks.size();
        live.erase(blocks[which].data());
        total -= (blocks[which].size() + 255) / 256 * 256;
        blocks[which] = std::move(blocks.back());
        blocks.pop_back();
        continue;
      }
      const std::int64_t bytes = 1 + r[2] % (r[3] % 4 == 0 ? 600'000 : 5'000);
      blocks.push_back(pool.allocate(bytes, "block"));
      std::byte* const data = blocks.back().data();
      CHECK(reinterpret_cast<std::uintptr_t>(data) % 256 == 0);
      const auto next = live.lower_bound(data);
      if (next != live.end()) CHECK(data + bytes <= next->first);
      if (next != live.begin()) CHECK(std::prev(next)->first + std::prev(next)->second <= data);
      live[data] = bytes;
      total += (bytes + 255) / 256 * 256;
      if (total > most) most = total;
      CHECK(pool.use().used == total);
      CHECK(pool.use().peak == most);
      CHECK(pool.use().blocks == static_cast<std::int64_t>(blocks.size()));
    }
    blocks.clear();
    CHECK(pool.use().used == 0);
    CHECK(pool.use().peak == most);
    if (!growth) CHECK(pool.use().largest_free == pool.use().limit);
  }
  CHECK(d.counts().blocks == 0);
}

TEST_CASE("a process that finds less than its share takes somewhat less") {
  driver d({.memory = 10 * mebibyte, .taken = 3 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 0.9});
  const device_block a = pool.allocate(mebibyte, "a");
  CHECK(pool.use().limit == 9 * mebibyte / 256 * 256);
  CHECK(pool.use().reserved < 7 * mebibyte);
  CHECK(pool.use().reserved > 6 * mebibyte);
  const device_block b = pool.allocate(6 * mebibyte - 600'000, "b");
  CHECK(b.data() != nullptr);
}

TEST_CASE("an error about memory says who asked, what is there, who has it, and what may help") {
  driver d({.memory = 16 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 0.5});
  const device_block a = pool.allocate(5 * mebibyte, "variable 'embedding'");
  const device_block b = pool.allocate(mebibyte, "variable 'dense/kernel'");
  CHECK(
      message_of(pool, 4 * mebibyte, "the arena of [1024, 784]") ==
      "ResourceExhausted: /device:GPU:0 has no room for 4.0 MiB (4194304 bytes), which the arena of [1024, 784] asks "
      "for. Of 8.0 MiB (8388608 bytes) that this process may take (its share of 16.0 MiB (16777216 bytes)), 6.0 MiB "
      "(6291456 bytes) are used by 2 blocks; the "
      "largest free piece has 2.0 MiB (2097152 bytes), and 0 bytes were not yet taken from the device. The largest "
      "blocks: variable 'embedding' 5.0 MiB (5242880 bytes), variable 'dense/kernel' 1.0 MiB (1048576 bytes). What may "
      "help: a smaller batch; a larger memory fraction; fewer plans kept for other extents; variables on several "
      "devices");
  CHECK_NOTHROW(pool.allocate(2 * mebibyte, "the arena of [512, 784]"));
}

TEST_CASE("only the largest blocks are listed, the largest first") {
  driver d({.memory = 16 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.cap = 10 * mebibyte, .allow_growth = true});
  memory_pool capped(d, 0, "/device:GPU:0", {.fraction = 1, .cap = mebibyte});
  std::vector<device_block> blocks;
  for (int i = 1; i <= 12; ++i)
    blocks.push_back(capped.allocate(i % 2 == 0 ? i * 4096 : (13 - i) * 4096 + 256, "block" + std::to_string(i)));
  const std::string text = message_of(capped, 2 * mebibyte, "something");
  std::size_t at = 0;
  for (const char* name : {"block1 ", "block12 ", "block3 ", "block10 ", "block5 ", "block8 ", "block7 ", "block6 "}) {
    INFO(name << text);
    const std::size_t found = text.find(name, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  CHECK(text.find("block9 ") == std::string::npos);
  CHECK_THAT(text, Catch::Contains("may take (its cap), ") && Catch::Contains("a larger cap"));
  // Without a fraction, all that is free is less than the reserve here.
  CHECK_THAT(message_of(pool, 1, "x"),
             Catch::Contains("Of 0 bytes that this process may take (15.0 MiB (15728640 bytes) that were "
                             "free, less a reserve for the vendor's libraries)"));
  CHECK_THAT(message_of(pool, 1, "x"), Catch::Contains("fewer other processes"));
}

TEST_CASE("room that is in pieces is an error with advice of its own") {
  driver d({.memory = mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 1});
  std::vector<device_block> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(mebibyte / 4, "block"));
  blocks[0] = {};
  blocks[2] = {};
  CHECK_THAT(message_of(pool, mebibyte / 2, "x"), Catch::Contains("there is room but not in one piece"));
}

TEST_CASE("what the driver refuses is an error, and the next request may succeed") {
  driver d({.memory = 4 * mebibyte});
  memory_pool pool(d, 0, "/device:GPU:0", {.fraction = 0.5, .allow_growth = true});
  d.fail_at(fault::allocation, 1);
  CHECK_NOTHROW(pool.allocate(1000, "a"));  // a smaller region
  memory_pool other(d, 0, "/device:GPU:0", {.fraction = 0.5, .allow_growth = true});
  d.fail_at(fault::allocation, 1);
  CHECK_THAT(message_of(other, 2 * mebibyte, "b"), Catch::Contains("has no room for 2.0 MiB"));
  CHECK_THROWS_AS(pool.allocate(-1, "c"), tg::error);
}

}  // namespace
