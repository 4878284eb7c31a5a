// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/activations.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: activations") {
  // example: elu, selu, gelu, silu, swish, softsign
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();  // [-1, 0, 2]
  auto exponential = tg::elu(x);                              // [-0.6321, 0, 2]
  auto self_normalising = tg::selu(x);                        // [-1.111, 0, 2.101]
  auto gaussian = tg::gelu(x);                                // [-0.1587, 0, 1.954]
  auto gated = tg::silu(x);                                   // [-0.2689, 0, 1.762], as tg::swish(x)
  auto bounded = tg::softsign(x);                             // [-0.5, 0, 0.6667]
  // end
  // example: relu6, hard_sigmoid, leaky_relu
  constexpr auto y = tg::placeholder<"y", float, tg::dyn>();  // [-5, 1, 8]
  auto six = tg::relu6(y);                                    // [0, 1, 6]
  auto straight = tg::hard_sigmoid(y);                        // [0, 0.7, 1]
  auto leaky = tg::leaky_relu(y);                             // [-1, 1, 8]: a slope of 0.2
  auto flatter = tg::leaky_relu(y, 0.01f);                    // [-0.05, 1, 8]: PyTorch's slope
  // end
  // example: softmax, log_softmax
  constexpr auto logits = tg::placeholder<"logits", float, tg::dyn, 3>();  // [[1, 2, 3], [0, 0, 0]]
  auto probabilities = tg::softmax(logits);   // [[0.09003, 0.2447, 0.6652], [0.3333, 0.3333, 0.3333]]
  auto logarithms = tg::log_softmax(logits);  // [[-2.408, -1.408, -0.4076], [-1.099, -1.099, -1.099]]
  // end
  tg::session session(tg::compile([=] {
    return tg::outputs(exponential, self_normalising, gaussian, gated, bounded, six, straight, leaky, flatter,
                       probabilities, logarithms);
  }));
  const tg::tensor<float> xs({3}, {-1, 0, 2}), ys({3}, {-5, 1, 8}), rows({2, 3}, {1, 2, 3, 0, 0, 0});
  CHECK(text(xs) == "[-1, 0, 2]");
  CHECK(text(ys) == "[-5, 1, 8]");
  CHECK(text(rows) == "[[1, 2, 3], [0, 0, 0]]");
  CHECK(text(session.run(exponential, x = xs)) == "[-0.6321, 0, 2]");
  CHECK(text(session.run(self_normalising, x = xs)) == "[-1.111, 0, 2.101]");
  CHECK(text(session.run(gaussian, x = xs)) == "[-0.1587, 0, 1.954]");
  CHECK(text(tg::swish(x)) == text(gated));
  CHECK(text(session.run(gated, x = xs)) == "[-0.2689, 0, 1.762]");
  CHECK(text(session.run(bounded, x = xs)) == "[-0.5, 0, 0.6667]");
  CHECK(text(session.run(six, y = ys)) == "[0, 1, 6]");
  CHECK(text(session.run(straight, y = ys)) == "[0, 0.7, 1]");
  CHECK(text(session.run(leaky, y = ys)) == "[-1, 1, 8]");
  CHECK(text(session.run(flatter, y = ys)) == "[-0.05, 1, 8]");
  CHECK(text(session.run(probabilities, logits = rows)) == "[[0.09003, 0.2447, 0.6652], [0.3333, 0.3333, 0.3333]]");
  CHECK(text(session.run(logarithms, logits = rows)) == "[[-2.408, -1.408, -0.4076], [-1.099, -1.099, -1.099]]");
}
