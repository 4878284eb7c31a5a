// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/optimizers.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: gradients") {
  // example: gradient, gradients
  auto w = tg::variable<"w", float, 2>(tg::tensor<float>({2}, {3, -1}));
  auto b = tg::variable<"b", float>(2.0f);
  auto loss = tg::sum(tg::square(w)) * b;         // (9 + 1) * 2 = 20
  auto slope = tg::gradient(loss, w);             // [12, -4]: 2 * w * b
  auto [by_w, by_b] = tg::gradients(loss, w, b);  // [12, -4] and 10
  auto bend = tg::gradient(tg::sum(slope), w);    // [4, 4]: a gradient has a gradient
  // end
  // example: compute_gradients, apply_gradients
  auto pairs = tg::compute_gradients(loss, w, b);  // (w, its gradient), (b, its gradient)
  auto halved = std::make_pair(w, 0.5f * std::get<0>(pairs).second);
  auto step = tg::apply_gradients(tg::sgd{.learning_rate = 0.5}, std::make_tuple(halved));  // w is [0, 0] then; b stays
  // end
  // example: clip_by_value, clip_by_norm, clip_by_global_norm, global_norm
  auto clipped = tg::clip_by_value(slope, -5.0f, 5.0f);                      // [5, -4]
  auto norm = tg::global_norm(slope);                                        // 12.65
  auto shorter = tg::clip_by_norm(slope, 1.0f);                              // [0.9487, -0.3162]
  auto [first, second] = tg::clip_by_global_norm(1.0f, by_w, by_b);          // by one factor for both
  auto train = tg::minimize(loss, tg::sgd{}, tg::clip_by_global_norm(1.0));  // the same, as an option
  // end
  // example: average_gradients
  auto other = tg::sum(w) * b;  // the loss on another slice of a batch: gradients [2, 2] and 2
  auto averages = tg::average_gradients(pairs, tg::compute_gradients(other, w, b));  // [7, -1] and 6
  auto together = tg::apply_gradients(tg::sgd{.learning_rate = 0.1}, averages);
  // end
  auto average_w = std::get<0>(averages).second;
  auto average_b = std::get<1>(averages).second;
  const auto all_outputs = tg::outputs(loss, slope, by_w, by_b, bend, step, clipped, norm, shorter, first, train,
                                       average_w, average_b, together, w);
  tg::session session(tg::compile([=] { return all_outputs; }));
  CHECK(session.run(loss) == 20.0f);
  CHECK(text(session.run(slope)) == "[12, -4]");
  CHECK(text(session.run(by_w)) == "[12, -4]");
  CHECK(session.run(by_b) == 10.0f);
  CHECK(text(session.run(bend)) == "[4, 4]");
  CHECK(text(session.run(clipped)) == "[5, -4]");
  CHECK(session.run(norm) == Approx(12.65).epsilon(1e-3));
  CHECK(text(session.run(shorter)) == "[0.9487, -0.3162]");
  CHECK(text(session.run(first)) == "[0.7442, -0.2481]");
  CHECK(text(tg::tensor<float>({2}, {2, 2})) == "[2, 2]");
  CHECK(text(session.run(average_w)) == "[7, -1]");
  CHECK(session.run(average_b) == 6.0f);
  session.run(step);
  CHECK(text(session.run(w)) == "[0, 0]");
  session.run(together);
  session.run(train);
}

TEST_CASE("reference: optimizers") {
  // example: minimize, sgd, momentum
  auto w = tg::variable<"w", float>(1.0f);
  auto loss = tg::square(w);                                       // its gradient is 2 * w
  auto plain = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});  // w is 0.8 behind the first run
  auto rolling = tg::minimize(loss, tg::momentum{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true});
  // end
  // example: adam, adamw
  auto scaled = tg::minimize(loss, tg::adam{.learning_rate = 0.1});  // w is 0.9: the first step is as long as the rate
  auto decaying = tg::minimize(loss, tg::adamw{.learning_rate = 0.1, .weight_decay = 0.5});  // 0.85: 0.05 of it decay
  // end
  // example: adagrad, adadelta, rmsprop, centered_rmsprop, ftrl
  auto summed = tg::minimize(loss, tg::adagrad{.learning_rate = 0.1});  // w -= 0.1 * 2 / sqrt(0.1 + 4)
  auto by_itself =
      tg::minimize(loss, tg::adadelta{.learning_rate = 1.0, .rho = 0.9, .epsilon = 1e-6});  // PyTorch's numbers
  auto by_root = tg::minimize(loss, tg::rmsprop{.learning_rate = 0.1, .momentum = 0.9});
  auto centred = tg::minimize(loss, tg::centered_rmsprop{.learning_rate = 0.1});
  auto sparse = tg::minimize(loss, tg::ftrl{.learning_rate = 0.1, .l1 = 0.01});  // small weights become 0
  // end
  auto anew = tg::initialize(w);
  tg::session session(tg::compile([=] {
    return tg::outputs(w, plain, rolling, scaled, decaying, summed, by_itself, by_root, centred, sparse, anew);
  }));
  const auto behind = [&](const auto& step) {
    session.run(anew);
    session.run(step);
    return session.run(w);
  };
  CHECK(behind(plain) == Approx(0.8));
  CHECK(behind(rolling) == Approx(1 - 0.1 * (2 + 0.9 * 2)));
  CHECK(behind(scaled) == Approx(0.9));
  CHECK(behind(decaying) == Approx(0.85));
  CHECK(behind(summed) == Approx(1 - 0.2 / std::sqrt(4.1)));
  CHECK(behind(by_itself) < 1);
  CHECK(behind(by_root) == Approx(1 - 0.2 / std::sqrt(1.3)));
  CHECK(behind(centred) == Approx(1 - 0.2 / std::sqrt(1.57 - 0.04)));  // it goes on with the slot of rmsprop
  CHECK(behind(sparse) < 1);
}
