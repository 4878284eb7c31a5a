// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/copy.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "tagma/device/cpu/executor.hpp"

namespace {

using namespace tagma;
using device::cpu::box, device::cpu::copy_bytes, device::cpu::copy_box, device::cpu::over_pieces;

TEST_CASE("as many bytes are copied as are asked for, and none behind them") {
  std::array<std::byte, 40> from{}, to{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::int64_t bytes = 0; bytes < 36; ++bytes) {
    to.fill(std::byte{99});
    copy_bytes(to.data() + 1, from.data(), bytes);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool inside = i >= 1 && i < static_cast<std::size_t>(bytes) + 1;
      if (to[i] != (inside ? from[i - 1] : std::byte{99})) FAIL(bytes << " bytes, at " << i);
    }
  }
}

TEST_CASE("every piece is taken once, on one thread and on several, and none that does not exist") {
  const auto threads = runtime::make_cpu_executor(3);
  const runtime::run_context context{threads.get()};
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, std::int64_t{1} << 17,
                                   std::int64_t{1} << 18, (std::int64_t{1} << 18) + 1, std::int64_t{1} << 30})
    for (const std::int64_t count : {0, 1, 2, 3, 5, 1000, 2621}) {
      std::vector<tagma::atomic<int>> taken(static_cast<std::size_t>(count));
      tagma::atomic<int> outside{0};
      over_pieces(count, bytes, context, [&](std::int64_t first, std::int64_t last) {
        if (first < 0 || last > count || first > last) outside.fetch_add(1);
        for (std::int64_t i = first; i < last && i < count; ++i) taken[static_cast<std::size_t>(i)].fetch_add(1);
      });
      INFO(count << " pieces of " << bytes << " bytes");
      CHECK(outside.load() == 0);
      int wrong = 0;
      for (const auto& t : taken) wrong += t.load() != 1;
      CHECK(wrong == 0);
    }
}

/// Copies a box of three axes, and compares each element of the whole with what it was or should be.
void check_box(const shape& from_dims, const shape& to_dims, const shape& extents, const extent* from_first,
               const extent* to_first, int thread_count = 2) {
  std::vector<std::int32_t> from(static_cast<std::size_t>(from_dims.elements())),
      to(static_cast<std::size_t>(to_dims.elements()), -1);
  std::iota(from.begin(), from.end(), 0);
  box b{extents, from_dims, to_dims, {}, {}};
  for (int a = 0; a < 3; ++a) b.from_first[a] = from_first[a], b.to_first[a] = to_first[a];
  const auto threads = runtime::make_cpu_executor(thread_count);
  const runtime::run_context context{threads.get()};
  copy_box(reinterpret_cast<std::byte*>(to.data()), reinterpret_cast<const std::byte*>(from.data()), b, 4, context);
  std::size_t at = 0;
  std::int64_t wrong = 0;
  for (extent i = 0; i < to_dims[0]; ++i)
    for (extent j = 0; j < to_dims[1]; ++j)
      for (extent k = 0; k < to_dims[2]; ++k, ++at) {
        const extent p[] = {i - to_first[0], j - to_first[1], k - to_first[2]};
        bool inside = true;
        extent source = 0;
        for (int a = 0; a < 3; ++a) {
          inside = inside && p[a] >= 0 && p[a] < extents[a];
          source = source * from_dims[a] + from_first[a] + p[a];
        }
        wrong += to[at] != (inside ? static_cast<std::int32_t>(source) : -1);
      }
  INFO(extents[0] << " x " << extents[1] << " x " << extents[2]);
  CHECK(wrong == 0);
}

TEST_CASE("a box is moved from its place in one tensor to its place in another") {
  const extent none[] = {0, 0, 0}, some[] = {1, 2, 3}, other[] = {2, 1, 1};
  for (const shape& extents : {shape{1, 1, 1}, shape{2, 3, 4}, shape{3, 1, 2}, shape{2, 4, 1}, shape{1, 3, 4}}) {
    check_box({4, 6, 7}, {5, 5, 6}, extents, some, other);
    check_box({4, 6, 7}, {5, 5, 6}, extents, none, none);
  }
  check_box({4, 6, 7}, {4, 6, 7}, {4, 6, 7}, none, none);
  const extent row[] = {2, 0, 0};
  check_box({4, 6, 7}, {5, 6, 7}, {2, 6, 7}, row, row);
  check_box({4, 6, 7}, {9, 8, 9}, {4, 6, 7}, none, other);
  check_box({9, 8, 9}, {4, 6, 7}, {4, 6, 7}, other, none);
  check_box({4, 6, 7}, {4, 6, 7}, {4, 0, 7}, none, none);
  // Enough for several threads, which begin in the middle.
  const extent middle[] = {1, 0, 2};
  check_box({70, 90, 64}, {80, 95, 70}, {65, 90, 60}, middle, some);
}

TEST_CASE("parts of long rows are moved by several threads") {
  const extent none[] = {0, 0, 0}, some[] = {1, 0, 0}, middle[] = {1, 1, 0}, end[] = {1, 1, 7};
  for (const int threads : {1, 2, 3}) {
    check_box({3, 200, 301}, {4, 200, 301}, {2, 200, 301}, none, some, threads);  // one row
    check_box({3, 200, 301}, {2, 200, 301}, {1, 200, 301}, some, none, threads);
    check_box({3, 3, 80001}, {3, 4, 80001}, {2, 2, 80001}, middle, some, threads);  // rows of some axes
    check_box({2, 3, 70003}, {3, 4, 80000}, {2, 3, 70003}, none, end, threads);     // of the last one
    check_box({2, 3, 70000}, {3, 4, 65543}, {1, 2, 65536}, end, end, threads);      // of the least length
    check_box({1, 1, 1000003}, {1, 1, 1000003}, {1, 1, 1000003}, none, none, threads);
    check_box({2, 0, 50000}, {2, 1, 50000}, {2, 0, 50000}, none, none, threads);
  }
}

TEST_CASE("rows of bytes of every length, apart and next to each other") {
  for (extent bytes = 0; bytes <= 130; ++bytes)
    for (const extent gap : {0, 5}) {
      constexpr extent rows = 5;
      std::vector<std::byte> from(static_cast<std::size_t>(rows * (bytes + gap) + 1)), to(from.size(), std::byte{7});
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + 1);
      device::cpu::copy_rows(to.data(), bytes + gap, from.data(), bytes, rows, bytes);
      bool right = to.back() == std::byte{7};
      for (extent i = 0; i < rows * (bytes + gap); ++i) {
        const extent row = i / (bytes + gap), at = i % (bytes + gap);
        const auto expected = at < bytes ? from[static_cast<std::size_t>(row * bytes + at)] : std::byte{7};
        right = right && to[static_cast<std::size_t>(i)] == expected;
      }
      CAPTURE(bytes, gap);
      CHECK(right);
    }
}

}  // namespace
