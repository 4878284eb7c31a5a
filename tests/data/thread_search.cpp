// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/thread_search.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

namespace ds = tagma::datasets;
using ds::tuned_share;

/// A pipeline of stages that take so long for an element in one thread; whoever asks takes `asker` for one.
struct model {
  std::vector<double> costs;
  double asker = 0;
  int processors = 1 << 20;

  [[nodiscard]] double rate(const std::vector<tuned_share>& shares) const {
    double slowest = asker, work = asker;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      slowest = std::max(slowest, costs[i] / std::max(1, shares[i].threads));
      work += costs[i];
    }
    return std::min(1 / slowest, processors / work);
  }
  /// That of the best numbers of threads, found by trying all.
  [[nodiscard]] double best(int budget) const {
    std::vector<tuned_share> shares(costs.size());
    double found = 0;
    const auto all = [&](const auto& self, std::size_t i, int left) -> void {
      if (i == costs.size()) {
        found = std::max(found, rate(shares));
        return;
      }
      for (shares[i].threads = 1; shares[i].threads <= left; ++shares[i].threads)
        self(self, i + 1, left - shares[i].threads);
    };
    all(all, 0, budget);
    return found;
  }
  [[nodiscard]] std::vector<tuned_share> shares() const {
    std::vector<tuned_share> all;
    for (const double c : costs) all.push_back({c, 1, 2, 1 << 20, 0, 0});
    return all;
  }
};

/// Climbs for so many windows; returns what came of it.
struct climbed {
  double rate = 0;
  int threads = 0, most = 0;
};
climbed climb(const model& m, int budget, int windows, double noise = 0) {
  const int stages = static_cast<int>(m.costs.size());
  ds::thread_search search(std::min(budget, stages));
  climbed result;
  unsigned random = 1;
  for (int i = 0; i < windows || !search.resting(); ++i) {
    if (i >= windows + 200) break;
    auto shares = m.shares();
    const int given = ds::share_threads(shares, search.threads(), 1 << 30);
    result = {m.rate(shares), given, std::max(result.most, given)};
    random = random * 1664525 + 1013904223;
    const double error = 1 + noise * (static_cast<double>(random >> 8) / (1 << 24) - 0.5);
    search.observe(result.rate * error, result.rate < 0.95 / std::max(m.asker, 1e-9), budget);
  }
  return result;
}

TEST_CASE("the search finds the best numbers of threads of a model") {
  const std::vector<std::vector<double>> pipelines{{1}, {1, 1}, {3, 1}, {1, 3, 1}, {1, 1, 1}, {8, 1}, {1, 1, 8}};
  for (const auto& costs : pipelines)
    for (const int budget : {1, 2, 3, 4, 7, 8, 16, 32}) {
      if (budget < static_cast<int>(costs.size())) continue;
      const model m{costs};
      const climbed found = climb(m, budget, 40);
      INFO(costs.size() << " stages, the first " << costs[0] << ", budget " << budget);
      CHECK(found.rate >= 0.85 * m.best(budget));
      CHECK(found.most <= budget);
    }
}

TEST_CASE("a search stops where more threads bring nothing") {
  const model fast{{1}, 0.5};  // whoever asks takes half as long as one thread
  CHECK(climb(fast, 32, 40).rate == 2);
  CHECK(climb(fast, 32, 40).threads <= 4);
  const model crowded{{4, 4}, 0.1, 4};
  CHECK(climb(crowded, 32, 40).rate == crowded.best(32));
  CHECK(climb(crowded, 32, 40).threads <= 8);
  const model idle{{1}, 10};  // nobody waits
  CHECK(climb(idle, 32, 40).threads == 1);
}

TEST_CASE("a search bears measurements that are a little wrong") {
  for (const int budget : {4, 16}) {
    const model m{{6, 2}};
    CHECK(climb(m, budget, 300, 0.05).rate >= 0.7 * m.best(budget));
  }
}

TEST_CASE("threads go where work takes longest, and no further than bytes and sense") {
  std::vector<tuned_share> shares{{9, 10, 2, 100, 0, 0}, {3, 10, 2, 100, 0, 0}, {50, 10, 2, 1, 0, 0}};
  CHECK(ds::share_threads(shares, 2, 1000) == 2);  // in order
  CHECK(shares[2].threads == 0);
  CHECK(ds::share_threads(shares, 6, 1000) == 6);
  CHECK(shares[0].threads == 4);
  CHECK(shares[1].threads == 1);
  CHECK(shares[2].threads == 1);
  CHECK(ds::share_threads(shares, 6, 40) == 4);  // one thread more than stages: 40 bytes
  CHECK(ds::share_threads(shares, 6, 5) == 3);   // one each is always allowed
  shares[0].bytes = 0;
  CHECK(ds::share_threads(shares, 9, 1000) == 9);  // nothing is known of the first
  CHECK(shares[0].threads == 1);
}

TEST_CASE("room is for twice the threads, for what is wanted, and for one at least") {
  std::vector<tuned_share> shares{{1, 10, 2, 100, 3, 0}, {1, 20, 16, 100, 1, 0}, {1, 0, 16, 100, 1, 0}};
  ds::share_room(shares, 1000);
  CHECK(shares[0].room == 6);
  CHECK(shares[1].room == 16);
  CHECK(shares[2].room == 1);
  for (const std::int64_t bytes : {60, 100, 101, 200, 379, 380}) {
    ds::share_room(shares, bytes);
    CHECK(shares[0].room * 10 + shares[1].room * 20 <= bytes);
    CHECK(shares[0].room >= 3);
    CHECK(shares[1].room >= 1);
  }
  ds::share_room(shares, 1);
  CHECK(shares[0].room == 1);
  CHECK(shares[1].room == 1);
}

}  // namespace
