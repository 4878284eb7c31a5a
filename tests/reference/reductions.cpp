// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/reductions.md.
#include <catch2/catch.hpp>

#include <tagma/order.hpp>
#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: reductions") {
  // example: sum, mean, product, keep_dims
  constexpr auto x = tg::placeholder<"x", float, 2, 3>();  // [[1, 2, 3], [4, 5, 6]]
  auto total = tg::sum(x);                                 // 21: over all axes
  auto rows = tg::sum<1>(x);                               // [6, 15]: axis 1 is gone; tg::sum<-1>(x) is the same
  auto kept = tg::sum<1>(x, tg::keep_dims);                // [[6], [15]], which broadcasts beside x
  auto means = tg::mean<0>(x);                             // [2.5, 3.5, 4.5]
  auto products = tg::product<1>(x);                       // [6, 120]
  // end
  // example: reduce_max, reduce_min, argmax, argmin, all, any
  auto largest = tg::reduce_max<0>(x);             // [4, 5, 6]
  auto least = tg::reduce_min<1>(x);               // [1, 4]
  auto position = tg::argmax(x);                   // [2, 2], int64: along the last axis
  auto row = tg::argmin<0>(x);                     // [0, 0, 0]: along axis 0
  auto all_above = tg::all<1>(x > 3.0f);           // [false, true]
  auto any_above = tg::any(x > 5.0f);              // true
  auto low = tg::reduce_min<1>(x, tg::keep_dims);  // [[1], [4]]
  // end
  // example: moments
  auto [mean, variance] = tg::moments<1>(x);  // [2, 5] and [0.6667, 0.6667]
  // end
  const auto all_outputs = tg::outputs(total, rows, kept, means, products, largest, least, position, row, all_above,
                                       any_above, low, mean, variance);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> xs({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(text(xs) == "[[1, 2, 3], [4, 5, 6]]");
  CHECK(session.run(total, x = xs) == 21.0f);
  CHECK(text(session.run(rows, x = xs)) == "[6, 15]");
  CHECK(text(session.run(kept, x = xs)) == "[[6], [15]]");
  CHECK(text(session.run(means, x = xs)) == "[2.5, 3.5, 4.5]");
  CHECK(text(session.run(products, x = xs)) == "[6, 120]");
  CHECK(text(session.run(largest, x = xs)) == "[4, 5, 6]");
  CHECK(text(session.run(least, x = xs)) == "[1, 4]");
  CHECK(text(session.run(position, x = xs)) == "[2, 2]");
  CHECK(text(session.run(row, x = xs)) == "[0, 0, 0]");
  CHECK(text(session.run(all_above, x = xs)) == "[false, true]");
  CHECK(session.run(any_above, x = xs));
  CHECK(text(session.run(low, x = xs)) == "[[1], [4]]");
  CHECK(text(session.run(mean, x = xs)) == "[2, 5]");
  CHECK(text(session.run(variance, x = xs)) == "[0.6667, 0.6667]");
}

TEST_CASE("reference: order") {
  // example: top_k, top_k_values, top_k_indices
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();  // [[3, 9, 1, 9]]
  auto [values, positions] = tg::top_k<2>(x);  // [[9, 9]] and [[1, 3]]: the lower position of equal ones first
  auto best = tg::top_k_values<1>(x);          // [[9]]; tg::top_k_indices<1>(x) is [[1]]
  // end
  // example: sort, argsort, descending
  auto rising = tg::sort(x);                   // [[1, 3, 9, 9]], each row
  auto falling = tg::sort(x, tg::descending);  // [[9, 9, 3, 1]]
  auto order = tg::argsort(x);                 // [[2, 0, 1, 3]], int64
  // end
  // example: cumsum, cumsum_options
  auto running = tg::cumsum<1>(x);                                        // [[3, 12, 13, 22]]
  auto before = tg::cumsum<1, tg::cumsum_options{.exclusive = true}>(x);  // [[0, 3, 12, 13]]
  auto left = tg::cumsum<1, tg::cumsum_options{.reverse = true}>(x);      // [[22, 19, 10, 9]]
  // end
  auto index = tg::top_k_indices<1>(x);
  const auto all_outputs = tg::outputs(values, positions, best, index, rising, falling, order, running, before, left);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> xs({1, 4}, {3, 9, 1, 9});
  CHECK(text(xs) == "[[3, 9, 1, 9]]");
  CHECK(text(session.run(values, x = xs)) == "[[9, 9]]");
  CHECK(text(session.run(positions, x = xs)) == "[[1, 3]]");
  CHECK(text(session.run(best, x = xs)) == "[[9]]");
  CHECK(text(session.run(index, x = xs)) == "[[1]]");
  CHECK(text(session.run(rising, x = xs)) == "[[1, 3, 9, 9]]");
  CHECK(text(session.run(falling, x = xs)) == "[[9, 9, 3, 1]]");
  CHECK(text(session.run(order, x = xs)) == "[[2, 0, 1, 3]]");
  CHECK(text(session.run(running, x = xs)) == "[[3, 12, 13, 22]]");
  CHECK(text(session.run(before, x = xs)) == "[[0, 3, 12, 13]]");
  CHECK(text(session.run(left, x = xs)) == "[[22, 19, 10, 9]]");
}
