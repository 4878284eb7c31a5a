// SPDX-License-Identifier: BSL-1.0
// Mistakes of services made on purpose, each of which must be found: by a loss that is arranged, or by random towns.
#ifdef TAGMA_BREAKABLE

#include "tagma/transport/mistakes.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cluster/simulated/losses.hpp"
#include "cluster/simulated/town.hpp"

namespace tagma::test {

namespace {

using transport::mistake;

/// Services make this mistake while the object lives.
struct made {
  explicit made(mistake m) { transport::mistake_made = m; }
  made(const made&) = delete;
  made& operator=(const made&) = delete;
  ~made() { transport::mistake_made = mistake::none; }
};

/// Whether one of a few random towns finds that something is wrong.
bool towns_find() {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    if (!town::of(seed).wrong.empty()) return true;
  return false;
}

struct trap {
  mistake what;
  const char* name;
  std::function<bool()> goes_wrong;
};

}  // namespace

TEST_CASE("every mistake of services is found") {
  constexpr std::int64_t long_ns = 10'000'000'000;
  const std::vector<trap> traps{
      {mistake::answered_early, "answered_early", towns_find},
      {mistake::wake_forgotten, "wake_forgotten", towns_find},
      {mistake::one_thread_for_all, "one_thread_for_all", towns_find},
      {mistake::early_edge_dropped, "early_edge_dropped", towns_find},
      {mistake::early_wish_forgotten, "early_wish_forgotten", towns_find},
      {mistake::link_not_made_again, "link_not_made_again", towns_find},
      {mistake::loss_not_told, "loss_not_told", [] { return run_of_servers_that_are_parted().ns > long_ns; }},
      {mistake::lost_edges_not_told, "lost_edges_not_told", [] { return run_whose_edge_is_lost().ns > long_ns; }},
      {mistake::end_of_run_ignored, "end_of_run_ignored", [] { return run_that_fails().ns > long_ns; }},
      {mistake::forget_ignored, "forget_ignored", [] { return run_of_graph_that_went(true).empty(); }},
      {mistake::graphs_stay, "graphs_stay", [] { return run_of_graph_that_went(false).empty(); }},
  };
  for (const trap& t : traps) {
    INFO(t.name);
    const made it(t.what);
    CHECK(t.goes_wrong());
  }
}

}  // namespace tagma::test

#endif
