// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/optimizers.md: what is trained, and how.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: what is trained") {
  // example: in_scope, except_scope, trainable_variables, learning_rate
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto loss = tg::mean(tg::square(tg::dense<"head", 1>(tg::dense<"body", 3>(x))));
  auto head_alone = tg::minimize(loss, tg::sgd{.learning_rate = 0.1}, tg::in_scope<"head">);
  auto body_alone = tg::minimize(loss, tg::sgd{.learning_rate = 0.1}, tg::except_scope<"head">);
  auto trained = tg::trainable_variables(loss, tg::in_scope<"head">);  // two: head/kernel and head/bias
  constexpr auto rate = tg::placeholder<"rate", float>();
  auto by_rate = tg::minimize(loss, tg::sgd{}, tg::learning_rate(rate));  // session.run(by_rate, x = rows, rate = 0.1f)
  // end
  auto head = tg::variable<"head/kernel", float, 3, 1>(tg::glorot_uniform);
  auto body = tg::variable<"body/kernel", float, 2, 3>(tg::glorot_uniform);
  tg::session session(tg::compile([=] { return tg::outputs(loss, head_alone, body_alone, by_rate, head, body); }),
                      {.seed = 1});
  const tg::tensor<float> rows({1, 2}, {1, 2});
  CHECK(trained.size() == 2);
  std::string head_was = text(session.run(head)), body_was = text(session.run(body));
  session.run(head_alone, x = rows);
  CHECK(text(session.run(head)) != head_was);
  CHECK(text(session.run(body)) == body_was);
  head_was = text(session.run(head));
  session.run(body_alone, x = rows);
  CHECK(text(session.run(head)) == head_was);
  CHECK(text(session.run(body)) != body_was);
  session.run(by_rate, x = rows, rate = 0.1f);
  CHECK(text(session.run(head)) != head_was);
}

TEST_CASE("reference: training by parts") {
  // example: accumulate, accumulated_training
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  auto w = tg::variable<"w", float>(0.0f);
  auto loss = tg::mean(tg::square(x - w));  // its gradient is 2 * (w - the mean of x)
  auto parts = tg::accumulate(loss, tg::sgd{.learning_rate = 0.5});
  tg::session session(tg::compile([=] { return tg::outputs(parts.add, parts.apply, w); }));
  session.run(parts.add, x = std::vector<float>{1, 3});  // for each part of a batch
  session.run(parts.add, x = std::vector<float>{5, 7});
  session.run(parts.apply);  // w is 4: as with the whole batch
  // end
  CHECK(session.run(w) == 4.0f);
}

TEST_CASE("reference: averages") {
  // example: update_averages
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto y = tg::batch_norm<"norm">(x, tg::phase::training, /*momentum*/ 0.5);
  auto moves = tg::update_averages(y);  // moves the averages of y's layers, and trains nothing
  // end
  auto mean = tg::variable<"norm/moving_mean", float, 2>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(moves, mean); }));
  session.run(moves, x = tg::tensor<float>({2, 2}, {1, 2, 3, 6}));
  CHECK(text(session.run(mean)) == "[1, 2]");
}
