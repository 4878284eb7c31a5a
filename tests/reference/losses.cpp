// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/losses.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: losses of numbers") {
  // example: mean_squared_error, mean_absolute_error, huber_loss
  constexpr auto predicted = tg::placeholder<"predicted", float, tg::dyn>();  // [1, 2, 6]
  constexpr auto wanted = tg::placeholder<"wanted", float, tg::dyn>();        // [1, 3, 3]
  auto squared = tg::mean_squared_error(predicted, wanted);                   // 3.333
  auto absolute = tg::mean_absolute_error(predicted, wanted);                 // 1.333
  auto huber = tg::huber_loss(predicted, wanted);  // 1: (0 + 0.5 + 2.5) / 3; a third operand is delta, 1 by default
  constexpr auto weight = tg::placeholder<"weight", float, tg::dyn>();    // [1, 1, 0]
  auto without_last = tg::mean_squared_error(predicted, wanted, weight);  // 0.5
  // end
  // example: weighted_mean
  auto same = tg::weighted_mean(tg::square(predicted - wanted), weight);  // 0.5: sum(w * x) / sum(w)
  // end
  // example: cosine_distance, l2_loss
  constexpr auto a = tg::placeholder<"a", float, tg::dyn, 2>();  // [[1, 0], [0, 1]]: rows of length 1
  constexpr auto b = tg::placeholder<"b", float, tg::dyn, 2>();  // [[1, 0], [1, 0]]
  auto angles = tg::cosine_distance(a, b);                       // 0.5
  auto penalty = tg::l2_loss(a);                                 // 1: half the sum of squares
  // end
  tg::session session(
      tg::compile([=] { return tg::outputs(squared, absolute, huber, without_last, same, angles, penalty); }));
  const tg::tensor<float> ps({3}, {1, 2, 6}), ls({3}, {1, 3, 3}), ws({3}, {1, 1, 0}), as({2, 2}, {1, 0, 0, 1}),
      bs({2, 2}, {1, 0, 1, 0});
  CHECK(text(ps) == "[1, 2, 6]");
  CHECK(text(ls) == "[1, 3, 3]");
  CHECK(text(ws) == "[1, 1, 0]");
  CHECK(text(as) == "[[1, 0], [0, 1]]");
  CHECK(text(bs) == "[[1, 0], [1, 0]]");
  CHECK(session.run(squared, predicted = ps, wanted = ls) == Approx(10.0 / 3));
  CHECK(session.run(absolute, predicted = ps, wanted = ls) == Approx(4.0 / 3));
  CHECK(session.run(huber, predicted = ps, wanted = ls) == Approx(1.0));
  CHECK(session.run(without_last, predicted = ps, wanted = ls, weight = ws) == Approx(0.5));
  CHECK(session.run(same, predicted = ps, wanted = ls, weight = ws) == Approx(0.5));
  CHECK(session.run(angles, a = as, b = bs) == Approx(0.5));
  CHECK(session.run(penalty, a = as) == Approx(1.0));
}

TEST_CASE("reference: losses of classes") {
  // example: sparse_softmax_cross_entropy, softmax_cross_entropy
  constexpr auto logits = tg::placeholder<"logits", float, tg::dyn, 3>();        // [[2, 0, 0], [0, 0, 0]]
  constexpr auto classes = tg::placeholder<"classes", std::int32_t, tg::dyn>();  // [0, 2]
  auto each = tg::sparse_softmax_cross_entropy(logits, classes);                 // [0.2395, 1.099], one for each row
  auto loss = tg::mean(each);                                                    // 0.6692
  auto smoothed = tg::sparse_softmax_cross_entropy(logits, classes, 0.1);        // [0.3729, 1.099]
  auto dense = tg::softmax_cross_entropy(logits, tg::one_hot<3>(classes));       // [0.2395, 1.099], of probabilities
  // end
  // example: sigmoid_cross_entropy, log_loss, hinge_loss
  constexpr auto scores = tg::placeholder<"scores", float, tg::dyn>();  // [0, 2, -1]
  constexpr auto yes = tg::placeholder<"yes", float, tg::dyn>();        // [0, 1, 1]
  auto of_scores = tg::sigmoid_cross_entropy(scores, yes);              // [0.6931, 0.1269, 1.313], one for each element
  auto of_shares = tg::log_loss(tg::sigmoid(scores), yes);              // 0.7111, the mean of the same
  auto hinge = tg::hinge_loss(scores, yes);                             // 1: (1 + 0 + 2) / 3
  // end
  // example: kl_divergence
  constexpr auto q = tg::placeholder<"q", float, tg::dyn, 2>();  // predicted: [[0.5, 0.5], [0.5, 0.5]]
  constexpr auto p = tg::placeholder<"p", float, tg::dyn, 2>();  // labels: [[0.5, 0.5], [1, 0]]
  auto divergence = tg::kl_divergence(q, p);                     // [0, 0.6931], one for each row
  // end
  tg::session session(
      tg::compile([=] { return tg::outputs(each, loss, smoothed, dense, of_scores, of_shares, hinge, divergence); }));
  const tg::tensor<float> ls({2, 3}, {2, 0, 0, 0, 0, 0}), ss({3}, {0, 2, -1}), ys({3}, {0, 1, 1}),
      ps({2, 2}, {0.5f, 0.5f, 1, 0}), qs({2, 2}, {0.5f, 0.5f, 0.5f, 0.5f});
  const tg::tensor<std::int32_t> cs({2}, {0, 2});
  CHECK(text(ls) == "[[2, 0, 0], [0, 0, 0]]");
  CHECK(text(cs) == "[0, 2]");
  CHECK(text(session.run(each, logits = ls, classes = cs)) == "[0.2395, 1.099]");
  CHECK(session.run(loss, logits = ls, classes = cs) == Approx(0.6692).epsilon(1e-3));
  CHECK(text(session.run(smoothed, logits = ls, classes = cs)) == "[0.3729, 1.099]");
  CHECK(text(session.run(dense, logits = ls, classes = cs)) == "[0.2395, 1.099]");
  CHECK(text(ss) == "[0, 2, -1]");
  CHECK(text(ys) == "[0, 1, 1]");
  CHECK(text(session.run(of_scores, scores = ss, yes = ys)) == "[0.6931, 0.1269, 1.313]");
  CHECK(session.run(of_shares, scores = ss, yes = ys) == Approx(0.7111).epsilon(1e-3));
  CHECK(session.run(hinge, scores = ss, yes = ys) == Approx(1.0));
  CHECK(text(ps) == "[[0.5, 0.5], [1, 0]]");
  CHECK(text(qs) == "[[0.5, 0.5], [0.5, 0.5]]");
  CHECK(text(session.run(divergence, p = ps, q = qs)) == "[0, 0.6931]");
}
