// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/shapes.md.
#include <catch2/catch.hpp>

#include <tagma/filter.hpp>
#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: shapes of tensors") {
  // example: reshape, flatten, expand_dims, squeeze, transpose
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2, 3>();
  auto rows = tg::reshape<tg::dyn, 3>(x);   // [?, 3]: tg::dyn is worked out
  auto flat = tg::flatten(x);               // [?, 6]
  auto wider = tg::expand_dims<1>(x);       // [?, 1, 2, 3]; tg::expand_dims<-1>(x) is [?, 2, 3, 1]
  auto again = tg::squeeze<1>(wider);       // [?, 2, 3]
  auto turned = tg::transpose<0, 2, 1>(x);  // [?, 3, 2]; tg::transpose(x) reverses all axes
  // end
  CHECK(text(rows) == "[?, 3]");
  CHECK(text(flat) == "[?, 6]");
  CHECK(text(wider) == "[?, 1, 2, 3]");
  CHECK(text(tg::expand_dims<-1>(x)) == "[?, 2, 3, 1]");
  CHECK(text(again) == "[?, 2, 3]");
  CHECK(text(turned) == "[?, 3, 2]");

  // example: concat, stack, split, tile
  constexpr auto a = tg::placeholder<"a", float, 2, 2>();  // [[1, 2], [3, 4]]
  constexpr auto b = tg::placeholder<"b", float, 2, 2>();  // [[5, 6], [7, 8]]
  auto beside = tg::concat<1>(a, b);                       // [[1, 2, 5, 6], [3, 4, 7, 8]]
  auto pairs = tg::stack(a, b);                            // [2, 2, 2]: a new axis in front; tg::stack<2>(a, b) behind
  auto [left, right] = tg::split<1, 2>(beside);            // a and b again: two parts along axis 1
  auto twice = tg::tile<1, 2>(a);                          // [[1, 2, 1, 2], [3, 4, 3, 4]]
  // end
  // example: slice, range, all_of_axis, to_end, reverse
  constexpr auto m = tg::placeholder<"m", float, 2, 4>();        // [[1, 2, 3, 4], [5, 6, 7, 8]]
  auto middle = tg::slice<tg::all_of_axis, tg::range{1, 3}>(m);  // [[2, 3], [6, 7]]
  auto last_row = tg::slice<tg::range{-1, tg::to_end}>(m);       // [[5, 6, 7, 8]]
  auto backwards = tg::reverse<1>(m);                            // [[4, 3, 2, 1], [8, 7, 6, 5]]
  // end
  // example: pad, padding
  auto framed = tg::pad<tg::padding{}, tg::padding{1, 2}>(a, 0.0f);  // [[0, 1, 2, 0, 0], [0, 3, 4, 0, 0]]
  // end
  const auto all_outputs = tg::outputs(beside, pairs, left, right, twice, middle, last_row, backwards, framed);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> as({2, 2}, {1, 2, 3, 4}), bs({2, 2}, {5, 6, 7, 8}), ms({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(text(as) == "[[1, 2], [3, 4]]");
  CHECK(text(session.run(right, a = as, b = bs)) == "[[5, 6], [7, 8]]");
  CHECK(text(session.run(left, a = as, b = bs)) == text(as));
  CHECK(text(session.run(beside, a = as, b = bs)) == "[[1, 2, 5, 6], [3, 4, 7, 8]]");
  CHECK(text(pairs) == "[2, 2, 2]");
  CHECK(text(session.run(twice, a = as)) == "[[1, 2, 1, 2], [3, 4, 3, 4]]");
  CHECK(text(ms) == "[[1, 2, 3, 4], [5, 6, 7, 8]]");
  CHECK(text(session.run(middle, m = ms)) == "[[2, 3], [6, 7]]");
  CHECK(text(session.run(last_row, m = ms)) == "[[5, 6, 7, 8]]");
  CHECK(text(session.run(backwards, m = ms)) == "[[4, 3, 2, 1], [8, 7, 6, 5]]");
  CHECK(text(session.run(framed, a = as)) == "[[0, 1, 2, 0, 0], [0, 3, 4, 0, 0]]");
}

TEST_CASE("reference: indices") {
  // example: gather, embedding_lookup, one_hot
  auto table = tg::variable<"table", float, 3, 2>(tg::tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();  // [2, 0]
  auto rows = tg::gather(table, ids);              // [[5, 6], [1, 2]], as tg::embedding_lookup(table, ids)
  auto columns = tg::gather<1>(table, ids - ids);  // [[1, 1], [3, 3], [5, 5]]: along axis 1
  auto ones = tg::one_hot<3>(ids);                 // [[0, 0, 1], [1, 0, 0]], of float
  // end
  // example: scatter_add
  auto counts = tg::variable<"counts", float, 3>(tg::zeros, tg::not_trainable);
  auto counted = tg::scatter_add(counts, ids, tg::ones_like(tg::cast<float>(ids)));  // of ids [2, 0, 2]: [1, 0, 2]
  // end
  // example: identity, stop_gradient
  auto before = tg::identity(counts);    // a node of its own: what a run fetches or waits for
  auto fixed = tg::stop_gradient(rows);  // the same values, and no gradient for the table
  // end
  tg::session session(tg::compile([=] { return tg::outputs(rows, columns, ones, counted, before, fixed); }));
  const tg::tensor<std::int32_t> some({2}, {2, 0}), three({3}, {2, 0, 2});
  CHECK(text(some) == "[2, 0]");
  CHECK(text(three) == "[2, 0, 2]");
  CHECK(text(tg::embedding_lookup(table, ids)) == text(rows));
  CHECK(text(session.run(rows, ids = some)) == "[[5, 6], [1, 2]]");
  CHECK(text(session.run(fixed, ids = some)) == "[[5, 6], [1, 2]]");
  CHECK(text(session.run(columns, ids = some)) == "[[1, 1], [3, 3], [5, 5]]");
  CHECK(text(session.run(ones, ids = some)) == "[[0, 0, 1], [1, 0, 0]]");
  CHECK(text(session.run(counted, ids = three)) == "[1, 0, 2]");
  CHECK(text(session.run(before)) == "[1, 0, 2]");
}

TEST_CASE("reference: filters") {
  // example: boolean_mask, nonzero
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();  // [[1, 0], [0, 0], [3, 4]]
  auto filled = tg::boolean_mask(x, tg::sum<1>(x) > 0.0f);       // [[1, 0], [3, 4]]: the rows where the mask is true
  auto places = tg::nonzero(x);                                  // [[0, 0], [2, 0], [2, 1]]: row and column, int64
  // end
  // example: unique, unique_with_counts
  constexpr auto labels = tg::placeholder<"labels", std::int32_t, tg::dyn>();  // [7, 3, 7, 7]
  auto [values, which] = tg::unique(labels);                                   // [7, 3] and [0, 1, 0, 0]
  auto [same, where, counts] = tg::unique_with_counts(labels);                 // counts are [3, 1]
  // end
  const auto all_outputs = tg::outputs(filled, places, values, which, counts);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> xs({3, 2}, {1, 0, 0, 0, 3, 4});
  const tg::tensor<std::int32_t> all({4}, {7, 3, 7, 7});
  CHECK(text(xs) == "[[1, 0], [0, 0], [3, 4]]");
  CHECK(text(all) == "[7, 3, 7, 7]");
  CHECK(text(session.run(filled, x = xs)) == "[[1, 0], [3, 4]]");
  CHECK(text(session.run(places, x = xs)) == "[[0, 0], [2, 0], [2, 1]]");
  CHECK(text(session.run(values, labels = all)) == "[7, 3]");
  CHECK(text(session.run(which, labels = all)) == "[0, 1, 0, 0]");
  CHECK(text(session.run(counts, labels = all)) == "[3, 1]");
  (void)same;
  (void)where;
}
