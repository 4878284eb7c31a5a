// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/permutation.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tagma/datasets.hpp"

namespace {

namespace tg = tagma;
using tg::datasets::permutation;

TEST_CASE("every position is met once") {
  for (const tg::extent n : {1, 2, 3, 7, 64, 255, 256, 257, 1000, 4097})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const permutation order(n, seed, seed / 2);
      std::vector<bool> met(static_cast<std::size_t>(n));
      for (tg::extent i = 0; i < n; ++i) met[static_cast<std::size_t>(order(i))] = true;
      for (const bool one : met) REQUIRE(one);
    }
  const tg::extent large = tg::extent{1} << 40;
  const permutation order(large - 5, 1, 2);
  for (tg::extent i = 0; i < 100; ++i) {
    REQUIRE(order(i) >= 0);
    REQUIRE(order(i) < large - 5);
  }
}

TEST_CASE("orders of four are about equally many, whatever tells the seeds apart") {
  constexpr int rounds = 24 * 500;
  for (const bool of_epochs : {false, true}) {
    std::map<std::vector<tg::extent>, int> seen;
    for (int i = 0; i < rounds; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      const permutation order(4, of_epochs ? 7 : number, of_epochs ? number : 7);
      ++seen[{order(0), order(1), order(2), order(3)}];
    }
    CHECK(seen.size() == 24);
    double chi = 0;
    for (const auto& [order, times] : seen) chi += (times - 500.0) * (times - 500.0) / 500.0;
    CHECK(chi < 60);  // of 23 degrees of freedom; one in twenty thousand is more
  }
}

TEST_CASE("neighbours are scattered") {
  constexpr tg::extent n = 100'000;
  constexpr int boxes = 50;
  const permutation order(n, 3, 0);
  std::vector<int> steps(boxes), places(boxes);
  for (tg::extent i = 0; i + 1 < n; ++i) {
    ++steps[static_cast<std::size_t>((order(i + 1) - order(i) + n) % n * boxes / n)];
    if (i < n / 10) ++places[static_cast<std::size_t>(order(i) * boxes / n)];
  }
  double of_steps = 0, of_places = 0;
  for (int i = 0; i < boxes; ++i) {
    const auto box = static_cast<std::size_t>(i);
    of_steps += (steps[box] - 2000.0) * (steps[box] - 2000.0) / 2000.0;
    of_places += (places[box] - 200.0) * (places[box] - 200.0) / 200.0;
  }
  CHECK(of_steps < 110);  // of 49 degrees of freedom
  CHECK(of_places < 110);
}

TEST_CASE("orders are the same everywhere") {
  const permutation order(10, 42, 3);
  std::vector<tg::extent> all;
  for (tg::extent i = 0; i < 10; ++i) all.push_back(order(i));
  CHECK(all == std::vector<tg::extent>{8, 9, 3, 4, 2, 7, 5, 1, 0, 6});
}

}  // namespace
