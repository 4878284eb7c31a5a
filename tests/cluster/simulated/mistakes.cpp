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
#include "tagma/cluster/service/outcomes.hpp"
#include "tagma/cluster/service/run_gate.hpp"

namespace tagma::test {

namespace {

using entrance = service::outcomes::entrance;
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
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    if (!town::of(seed).wrong.empty()) return true;
  return false;
}

/// What somebody is told who asks for a run again.
/// @param at 0: while it is under way, 1: when it is done, 2: when its client has its end
service::outcomes::entrance asked_again(int at) {
  service::outcomes all;
  (void)all.begin(3, [](const service::run_answer&) {});
  if (at > 0) all.finish(3, {"x", nullptr});
  if (at > 1) all.end(3);
  return all.begin(3, [](const service::run_answer&) {});
}

int answers_to_two() {
  service::outcomes all;
  int told = 0;
  for (int i = 0; i < 2; ++i) (void)all.begin(3, [&](const service::run_answer&) { ++told; });
  all.finish(3, {"x", nullptr});
  return told;
}

/// How many runs go in that come while somebody holds the gate, or, if that is over, afterwards.
int runs_inside(bool opened) {
  service::run_gate gate;
  int in = 0;
  (void)gate.hold(7, {});
  gate.enter({1, 1}, {[&] { ++in; }, [] {}});
  if (opened)
    for (const auto& one : gate.open(7)) one.go();
  return in;
}

bool two_hold_the_gate() {
  service::run_gate gate;
  return gate.hold(7, {}).first && gate.hold(8, {}).first;
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
      {mistake::done_again, "done_again", [] { return asked_again(1) != entrance::told; }},
      {mistake::joined_not_seen, "joined_not_seen", [] { return asked_again(0) != entrance::joined; }},
      {mistake::end_not_kept, "end_not_kept", [] { return asked_again(2) != entrance::over; }},
      {mistake::one_is_answered, "one_is_answered", [] { return answers_to_two() != 2; }},
      {mistake::new_server_taken, "new_server_taken", [] { return run_on_a_new_server().text.empty(); }},
      {mistake::lease_goes_on, "lease_goes_on", [] { return !run_after_a_cut(70 * village::s).text.empty(); }},
      {mistake::lease_at_once, "lease_at_once", [] { return !run_after_a_cut(village::s).text.empty(); }},
      {mistake::gate_is_open, "gate_is_open", [] { return runs_inside(false) != 0; }},
      {mistake::gate_stays_shut, "gate_stays_shut", [] { return runs_inside(true) != 1; }},
      {mistake::gate_changes_hands, "gate_changes_hands", two_hold_the_gate},
      {mistake::run_not_stopped, "run_not_stopped", towns_find},
      {mistake::end_not_said, "end_not_said", [] { return run_that_fails().ns > long_ns; }},
      {mistake::steps_not_told_apart, "steps_not_told_apart", towns_find},
      {mistake::early_post_dropped, "early_post_dropped", towns_find},
      {mistake::container_forgotten, "container_forgotten", towns_find},
      {mistake::prefix_forgotten, "prefix_forgotten", towns_find},
      {mistake::seed_forgotten, "seed_forgotten", towns_find},
      {mistake::asked_once, "asked_once", [] { return !run_through_a_cut().text.empty(); }},
      {mistake::one_loss_told, "one_loss_told", [] { return run_whose_edge_is_lost_second().ns > long_ns; }},
      {mistake::old_goes_first, "old_goes_first", towns_find},
      {mistake::index_in_place, "index_in_place", towns_find},
      {mistake::commit_believed, "commit_believed", towns_find},
  };
  for (const trap& t : traps) {
    INFO(t.name);
    const auto* const by_towns = t.goes_wrong.target<bool (*)()>();
    if (by_towns == nullptr || *by_towns != &towns_find) CHECK(!t.goes_wrong());  // towns have a test of their own
    const made it(t.what);
    CHECK(t.goes_wrong());
  }
}

}  // namespace tagma::test

#endif
