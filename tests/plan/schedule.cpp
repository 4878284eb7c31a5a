// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/schedule.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::build, test::find, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, 3>();
constexpr auto w = variable<"w", float, 3>(static_initializer<initializer_kind::zeros>{});
constexpr auto v = variable<"v", float, 3>(static_initializer<initializer_kind::zeros>{});

template <class Built>
constexpr auto scheduled(const Built& built) {
  const auto g = view_of(built);
  const auto needs = ir::prune<room>(g, g.roots);
  return plan::schedule<room, 2 * room>(g, needs, ir::fuse<room>(g, needs, g.roots));
}

template <class Result>
constexpr int place(const Result& r, ir::node_id id) {
  for (int i = 0; i < r.count; ++i)
    if (r.order[i] == id) return i;
  return -1;
}

constexpr bool operands_first() {
  const auto built = build(sum(tagma::exp(x)), after(assign(w, x))(sum(w)));
  const auto g = view_of(built);
  const auto r = scheduled(built);
  for (int i = 0; i < g.size(); ++i)
    for (const auto list : {g.inputs(i), g.controls(i)})
      for (const auto in : list)
        if (place(r, i) >= 0 && place(r, in) >= place(r, i)) return false;
  return !r.contradictory && r.count > 0;
}
static_assert(operands_first());

/// A read of the old value comes before the update, also through a view; a read of the new value behind it.
constexpr bool reads_around_updates() {
  const auto update = assign_add(w, x);
  const auto old_value = sum(w);
  const auto old_view = sum(reshape<3, 1>(w));
  const auto new_value = sum(update);
  const auto second = assign(w, v);
  const auto built = build(update, old_value, old_view, new_value, second);
  const auto r = scheduled(built);
  const auto at = [&](int root) { return place(r, built.roots[root]); };
  return at(1) < at(0) && at(2) < at(0) && at(0) < at(3) && at(3) < at(4);
}
static_assert(reads_around_updates());

/// Each of two sums wants the old value of one variable and the new value of the other.
constexpr bool contradicts() {
  const auto p = w + assign(v, x);
  const auto q = v + assign(w, x);
  return scheduled(build(p, q)).contradictory && !scheduled(build(p)).contradictory;
}
static_assert(contradicts());

/// Updates of one variable run in the order of the graph, however many there are.
constexpr bool in_order() {
  const auto a = assign_add(w, x);
  const auto b = assign_add(w, x);
  const auto c = assign_add(w, x);
  const auto d = assign_add(w, x);
  const auto e = assign_add(w, x);
  const auto f = assign_add(w, x);
  const auto built = build(a, b, c, d, e, f);
  const auto r = scheduled(built);
  for (int i = 1; i < 6; ++i)
    if (place(r, built.roots[i]) <= place(r, built.roots[i - 1])) return false;
  return true;
}
static_assert(in_order());

/// The first update waits for what it assigns, the second could run at once; still the first one comes first.
constexpr bool a_late_update() {
  const auto built = build(assign(w, sum<0>(reshape<1, 3>(tagma::exp(x)))), assign_add(w, x));
  const auto r = scheduled(built);
  return !r.contradictory && place(r, built.roots[0]) >= 0 && place(r, built.roots[0]) < place(r, built.roots[1]);
}
static_assert(a_late_update());

/// An update runs before what comes earlier in the graph and has nothing to do with it.
constexpr bool updates_early() {
  const auto built = build(sum(w), sum(tagma::exp(x)), assign(w, x));
  const auto g = view_of(built);
  const auto r = scheduled(built);
  const int update = place(r, built.roots[2]);
  return place(r, built.roots[0]) < update && update < place(r, find(g, "exp"));
}
static_assert(updates_early());

TEST_CASE("the order of a run respects operands, control dependencies and versions of variables") {
  CHECK(operands_first());
  CHECK(reads_around_updates());
  CHECK(contradicts());
  CHECK(in_order());
  CHECK(a_late_update());
  CHECK(updates_early());
}

TEST_CASE("the queue of ready items gives the smallest first") {
  plan::detail::ready_queue<16> queue(16);
  for (const int key : {5, 3, 9, 1, 7, 2, 8}) queue.push(key);
  int last = 0;
  for (int i = 0; i < 7; ++i) {
    const int key = queue.pop();
    CHECK(key > last);
    last = key;
  }
  CHECK(queue.empty());
}

}  // namespace
