// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/control.md.
#include <catch2/catch.hpp>

#include <tagma/control_flow.hpp>
#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: updates and their order") {
  // example: assign, assign_add, assign_sub, initialize, group
  auto count = tg::variable<"count", float>(5.0f, tg::not_trainable);
  auto table = tg::variable<"table", float, 2>(tg::zeros, tg::not_trainable);
  constexpr auto row = tg::placeholder<"row", float, 2>();
  auto up = tg::assign_add(count, 1.0f);   // the result is the new value: 6 in the first run
  auto down = tg::assign_sub(table, row);  // table - row
  auto set = tg::assign(table, row);
  auto both = tg::group(up, set);                                       // one fetch for two updates
  auto anew = tg::group(tg::initialize(count), tg::initialize(table));  // 5 and [0, 0] again
  // end
  // example: after
  auto behind = tg::after(up)(tg::identity(count));  // read behind the update; count alone is what it was before
  // end
  tg::session session(tg::compile([=] { return tg::outputs(up, down, set, both, anew, behind, count, table); }));
  const tg::tensor<float> rows({2}, {1, 2});
  CHECK(session.run(up) == 6.0f);
  CHECK(text(session.run(set, row = rows)) == "[1, 2]");
  CHECK(text(session.run(down, row = rows)) == "[0, 0]");
  session.run(both, row = rows);
  CHECK(session.run(count) == 7.0f);
  const auto [before, later] = session.run(tg::fetch(count, behind));
  CHECK(before == 7.0f);
  CHECK(later == 8.0f);
  session.run(anew);
  CHECK(session.run(count) == 5.0f);
  CHECK(text(session.run(table)) == "[0, 0]");
}

TEST_CASE("reference: loops") {
  // example: scan, carry, over, next
  constexpr auto xs = tg::placeholder<"xs", float, tg::dyn>();  // [1, 2, 3]
  constexpr auto start = tg::placeholder<"start", float>();     // 10
  auto [last, sums] = tg::scan(tg::carry(start), tg::over(xs), [](auto so_far, auto x) {
    auto sum = so_far + x;
    return tg::next(sum).emit(sum);  // what the next iteration is given, and what is gathered
  });                                // 16 and [11, 13, 16]
  // end
  // example: while_loop
  auto [steps, small] = tg::while_loop<100>(  // at most 100 iterations, so that it has a gradient
      tg::carry(start * 0.0f, start), [](auto, auto v) { return v > 1.0f; },
      [](auto n, auto v) { return tg::next(n + 1.0f, v * 0.5f); });  // of 10: 4 and 0.625
  // end
  // example: cond
  auto root = tg::cond(
      start > 0.0f, [](auto v) { return tg::sqrt(v); }, [](auto v) { return v * 0.0f; }, start);
  // end
  const auto all_outputs = tg::outputs(last, sums, steps, small, root);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> all({3}, {1, 2, 3});
  CHECK(text(all) == "[1, 2, 3]");
  CHECK(session.run(last, xs = all, start = 10.0f) == 16.0f);
  CHECK(text(session.run(sums, xs = all, start = 10.0f)) == "[11, 13, 16]");
  CHECK(session.run(steps, start = 10.0f) == 4.0f);
  CHECK(session.run(small, start = 10.0f) == 0.625f);
  CHECK(session.run(root, start = 9.0f) == 3.0f);
  CHECK(session.run(root, start = -9.0f) == 0.0f);
}

TEST_CASE("reference: repeated blocks") {
  // example: repeat, unrolled, unrolled_steps
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto block = [](const auto& h) { return h + tg::variable<"shift", float, 2>(tg::ones); };
  auto deep = tg::repeat<"block", 3>(block)(x);  // x + block_0/shift + block_1/shift + block_2/shift
  auto written_out = tg::repeat<"block", 3>(block, tg::unrolled)(x);  // the same variables, without a loop
  // end
  auto middle = tg::variable<"block_1/shift", float, 2>(tg::ones);
  tg::session session(
      tg::compile([=] { return tg::outputs(deep, written_out, tg::assign_add(middle, tg::ones_like(middle))); }));
  CHECK(text(session.run(deep, x = tg::tensor<float>({1, 2}, {1, 2}))) == "[[4, 5]]");
  CHECK(text(session.run(written_out, x = tg::tensor<float>({1, 2}, {1, 2}))) == "[[4, 5]]");
}
