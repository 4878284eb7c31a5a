// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/assign.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tagma/base/random.hpp"

namespace {

namespace tg = tagma;
using namespace tg::device::stream;
using lists = std::vector<std::vector<step_id>>;

/// Steps with what each waits for.
struct hand_made {
  std::vector<step> steps;
  std::vector<std::int32_t> first{0};
  std::vector<step_id> waits;

  hand_made(std::vector<step> s, const lists& waits_of) : steps(std::move(s)) {
    for (const auto& w : waits_of) {
      waits.insert(waits.end(), w.begin(), w.end());
      first.push_back(static_cast<std::int32_t>(waits.size()));
    }
  }
  [[nodiscard]] step_list list() const { return {steps, first, waits}; }
};

step kernel(int device = 0, float cost = 1) {
  return {step_kind::kernel, true, static_cast<std::int16_t>(device), 0, cost};
}
step other(step_kind kind, int device = 0, int receiver = 0) {
  return {kind, true, static_cast<std::int16_t>(device), static_cast<std::int16_t>(receiver), 1};
}
std::vector<step> kernels(std::size_t n) { return std::vector<step>(n, kernel()); }
std::vector<step_id> list_of(tg::array_view<const step_id> waits) { return {waits.begin(), waits.end()}; }

TEST_CASE("a chain stays on one stream and needs no event but the last") {
  const hand_made plan(kernels(4), {{}, {0}, {1}, {0, 1, 2}});
  const auto a = assign_streams(plan.list(), 4);
  CHECK(a.stream_count == 1);
  CHECK(a.events == 1);
  for (step_id s = 0; s < 4; ++s) {
    CHECK(a.stream_at(s) == 0);
    CHECK(a.waits_of(s).empty());
  }
  CHECK(list_of(a.final_waits()) == std::vector<step_id>{3});
}

TEST_CASE("branches take streams of their own as far as there are any") {
  //    0 -> 1 -> 3 -> 5
  //    0 -> 2 -> 4 -> 5
  const hand_made plan(kernels(6), {{}, {0}, {0}, {1}, {2}, {3, 4}});
  const auto a = assign_streams(plan.list(), 4);
  CHECK(a.stream_count == 2);
  CHECK(a.stream_at(0) == a.stream_at(1));
  CHECK(a.stream_at(1) == a.stream_at(3));
  CHECK(a.stream_at(2) != a.stream_at(1));
  CHECK(a.stream_at(2) == a.stream_at(4));
  CHECK(list_of(a.waits_of(2)) == std::vector<step_id>{0});
  CHECK(a.waits_of(5).size() == 1);
  CHECK(a.events == 3);  // behind the fork, the join, and the end

  const auto one = assign_streams(plan.list(), 1);
  CHECK(one.stream_count == 1);
  CHECK(one.events == 1);
}

TEST_CASE("a stream with nothing left to do is taken again") {
  // Two branches, a join, and two branches again: two streams are enough.
  const hand_made plan(kernels(6), {{}, {}, {0, 1}, {2}, {2}, {3, 4}});
  const auto a = assign_streams(plan.list(), 8);
  CHECK(a.stream_count == 2);
}

TEST_CASE("more branches than streams take the stream that is free first") {
  const hand_made plan({kernel(0, 10), kernel(0, 3), kernel(0, 1), kernel(0, 1)}, {{}, {}, {}, {}});
  const auto a = assign_streams(plan.list(), 2);
  CHECK(a.stream_count == 2);
  CHECK(a.stream_at(0) != a.stream_at(1));
  CHECK(a.stream_at(2) == a.stream_at(1));
  CHECK(a.stream_at(3) == a.stream_at(1));
}

TEST_CASE("a stream is free after what its kernels wait for elsewhere") {
  // A long copy, a kernel on its own, one behind the copy, and one that may take either stream.
  const hand_made plan({other(step_kind::to_device), kernel(0, 10), kernel(0, 1), kernel(0, 1)}, {{}, {}, {0}, {}});
  auto late = plan;
  late.steps[0].cost = 100;
  const auto a = assign_streams(late.list(), 2);
  CHECK(a.stream_at(1) != a.stream_at(2));
  CHECK(a.stream_at(3) == a.stream_at(1));
  const auto soon = assign_streams(plan.list(), 2);
  CHECK(soon.stream_at(3) == soon.stream_at(2));
}

TEST_CASE("copies have a stream for each way, and kernels of two devices never share one") {
  const hand_made plan({other(step_kind::to_device), kernel(0), other(step_kind::between, 0, 1), kernel(1),
                        other(step_kind::to_host, 1), other(step_kind::host)},
                       {{}, {0}, {1}, {2}, {3}, {4}});
  const auto a = assign_streams(plan.list(), 4);
  CHECK(a.stream_count == 5);
  const auto place = [&](step_id s) { return a.streams[static_cast<std::size_t>(a.stream_at(s))]; };
  CHECK(place(0) == stream_place{0, stream_role::to_device, 0});
  CHECK(place(1) == stream_place{0, stream_role::compute, 0});
  CHECK(place(2) == stream_place{0, stream_role::between, 0});
  CHECK(place(3) == stream_place{1, stream_role::compute, 0});
  CHECK(place(4) == stream_place{1, stream_role::to_host, 0});
  CHECK(a.stream_at(5) == -1);
  for (step_id s = 1; s < 6; ++s) CHECK(list_of(a.waits_of(s)) == std::vector<step_id>{s - 1});
  CHECK(a.final_waits().empty());  // the host has waited for the last copy, and so for everything
}

TEST_CASE("what the host has waited for needs no events") {
  // The host reads what 1 computed; 3 needs it as well, and 0.
  const hand_made plan({kernel(0), kernel(1), other(step_kind::host), kernel(0)}, {{}, {0}, {1}, {0, 1, 2}});
  const auto a = assign_streams(plan.list(), 1);
  CHECK(list_of(a.waits_of(1)) == std::vector<step_id>{0});
  CHECK(list_of(a.waits_of(2)) == std::vector<step_id>{1});
  CHECK(a.waits_of(3).empty());
  CHECK(list_of(a.final_waits()) == std::vector<step_id>{3});
}

TEST_CASE("a range takes what is before it as done") {
  const hand_made plan(kernels(4), {{}, {0}, {0}, {1, 2}});
  const auto a = assign_streams(plan.list(), 2, 4, 4);
  CHECK(a.waits_of(2).empty());
  CHECK(a.waits_of(3).empty());
  CHECK(a.roots[0] == 2);
  const auto all = assign_streams(plan.list(), 0, 4, 4);
  CHECK(all.roots[0] == 0);
  CHECK(all.roots[1] == -1);  // begins with a step that waits
  const auto none = assign_streams(plan.list(), 2, 2, 4);
  CHECK(none.stream_count == 0);
  CHECK(none.final_waits().empty());
}

/// Walks the steps as a device would and says for each which steps are done when it begins.
std::vector<std::set<step_id>> known_done(const step_list& list, const assignment& a) {
  std::vector<std::set<step_id>> before(list.size()), tails(a.stream_count);
  std::set<step_id> host;
  for (std::size_t s = 0; s < list.size(); ++s) {
    const auto id = static_cast<step_id>(s);
    auto& own = before[s];
    own = host;
    if (a.stream_at(id) >= 0) own.merge(std::set(tails[static_cast<std::size_t>(a.stream_at(id))]));
    for (const step_id w : a.waits_of(id)) {
      own.merge(std::set(before[static_cast<std::size_t>(w)]));
      own.insert(w);
    }
    auto after = own;
    after.insert(id);
    (a.stream_at(id) >= 0 ? tails[static_cast<std::size_t>(a.stream_at(id))] : host) = after;
  }
  return before;
}

TEST_CASE("events of random lists keep all edges, and none of them is superfluous") {
  std::size_t waits = 0, edges = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<step> steps;
    lists waits_of;
    for (std::size_t s = 0; s < 80; ++s) {
      const auto r = tg::random_block({seed, 1, 0}, s);
      const auto kind = static_cast<step_kind>(r[3] % 16 < 11 ? 0 : r[3] % 16 - 11);
      const int device = kind == step_kind::host ? 0 : static_cast<int>(r[3] >> 8) % 3;
      steps.push_back({kind, true, static_cast<std::int16_t>(device), static_cast<std::int16_t>((device + 1) % 3),
                       static_cast<float>(1 + r[3] % 5)});
      auto& w = waits_of.emplace_back();
      for (std::size_t k = 0; k < 3 && s > 0; ++k)
        if (r[k] % 4 != 0) w.push_back(static_cast<step_id>(s - 1 - (r[k] >> 8) % std::min<std::size_t>(s, 12)));
      edges += w.size();
    }
    const hand_made plan(steps, waits_of);
    const auto a = assign_streams(plan.list(), 1 + static_cast<int>(seed % 4));
    const auto before = known_done(plan.list(), a);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto id = static_cast<step_id>(s);
      for (const step_id w : waits_of[s])
        if (steps[static_cast<std::size_t>(w)].kind != step_kind::host) CHECK(before[s].count(w) == 1);
      waits += a.waits_of(id).size();
      for (const step_id w : a.waits_of(id)) {
        CHECK(a.event_at(w) >= 0);
        CHECK(a.stream_at(w) != a.stream_at(id));
        for (const step_id v : a.waits_of(id)) CHECK(before[static_cast<std::size_t>(v)].count(w) == 0);
      }
    }
    std::set<step_id> end;
    for (const step_id w : a.final_waits()) {
      end.merge(std::set(before[static_cast<std::size_t>(w)]));
      end.insert(w);
    }
    std::size_t on_device = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].kind == step_kind::host) end.merge(std::set(before[s]));
      on_device += steps[s].kind != step_kind::host;
    }
    std::size_t done = 0;
    for (const step_id s : end) done += steps[static_cast<std::size_t>(s)].kind != step_kind::host;
    CHECK(done == on_device);
  }
  CHECK(waits < edges / 2);
}

}  // namespace
