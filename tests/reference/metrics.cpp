// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/metrics.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: metrics") {
  // example: metric, metrics::accuracy, metrics::top_k_accuracy
  constexpr auto logits = tg::placeholder<"logits", float, tg::dyn, 3>();  // [[1, 2, 0], [5, 1, 0]], then [[2, 1, 0]]
  constexpr auto classes = tg::placeholder<"classes", std::int32_t, tg::dyn>();  // [1, 1], then [1]
  auto right = tg::metrics::accuracy<"right">(logits, classes);  // right.update, right.result and right.reset
  auto close = tg::metrics::top_k_accuracy<"close", 2>(logits, classes);
  tg::session session(tg::compile(
      [=] { return tg::outputs(tg::group(right.update, close.update), right.result, right.reset, close.result); }));
  // end
  // example: metric
  auto take = tg::group(right.update, close.update);
  session.run(take, logits = tg::tensor<float>({2, 3}, {1, 2, 0, 5, 1, 0}),
              classes = tg::tensor<std::int32_t>({2}, {1, 1}));
  session.run(take, logits = tg::tensor<float>({1, 3}, {2, 1, 0}), classes = tg::tensor<std::int32_t>({1}, {1}));
  double share = session.run(right.result);      // 0.3333: one of three
  double among_two = session.run(close.result);  // 1
  session.run(right.reset);                      // begins anew
  // end
  CHECK(text(tg::tensor<float>({2, 3}, {1, 2, 0, 5, 1, 0})) == "[[1, 2, 0], [5, 1, 0]]");
  CHECK(text(tg::tensor<float>({1, 3}, {2, 1, 0})) == "[[2, 1, 0]]");
  CHECK(text(tg::tensor<std::int32_t>({2}, {1, 1})) == "[1, 1]");
  CHECK(text(tg::tensor<std::int32_t>({1}, {1})) == "[1]");
  CHECK(share == Approx(1.0 / 3));
  CHECK(among_two == 1.0);
  CHECK(session.run(right.result) == 0.0);
}

TEST_CASE("reference: metrics of two classes") {
  // example: metrics::precision, metrics::recall, metrics::auc, metrics::mean
  constexpr auto shares = tg::placeholder<"shares", float, tg::dyn>();  // [0.9, 0.8, 0.3, 0.1]
  constexpr auto yes = tg::placeholder<"yes", bool, tg::dyn>();         // [true, false, true, false]
  auto precision = tg::metrics::precision<"precision">(shares, yes);    // 0.5: of 0.9 and 0.8, above 0.5, one is right
  auto recall = tg::metrics::recall<"recall">(shares, yes, 0.2);        // 1: above 0.2 are all that are true
  auto area = tg::metrics::auc<"area">(shares, yes);                    // 0.75
  auto mean = tg::metrics::mean<"mean">(shares);                        // 0.525
  auto update = tg::group(precision.update, recall.update, area.update, mean.update);
  // end
  tg::session session(
      tg::compile([=] { return tg::outputs(update, precision.result, recall.result, area.result, mean.result); }));
  const tg::tensor<float> ss({4}, {0.9f, 0.8f, 0.3f, 0.1f});
  const tg::tensor<bool> ys({4}, {true, false, true, false});
  CHECK(text(ss) == "[0.9, 0.8, 0.3, 0.1]");
  CHECK(text(ys) == "[true, false, true, false]");
  session.run(update, shares = ss, yes = ys);
  CHECK(session.run(precision.result) == Approx(0.5));
  CHECK(session.run(recall.result) == Approx(1.0));
  CHECK(session.run(area.result) == Approx(0.75));
  CHECK(session.run(mean.result) == Approx(0.525));
}
