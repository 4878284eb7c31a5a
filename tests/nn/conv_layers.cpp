// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/conv_layers.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("a small convolutional network learns which half of an image is bright", "[conv_layers]") {
  const auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 1>();
  const auto labels = tg::placeholder<"labels", std::int32_t, tg::dyn>();
  constexpr tg::conv_options options{.padding = tg::same_padding};
  const auto hidden = tg::max_pool<2>(tg::conv2d<"conv1", 4, 3, options>(x, tg::relu));
  const auto normal = tg::batch_norm<"bn", tg::phase::training>(hidden, 0.5);
  const auto deep = tg::conv2d<"conv2", 8, tg::window(3, 3)>(normal.output, tg::tanh);
  static_assert(decltype(deep)::spec.dims == tg::shape{tg::dyn, 2, 2, 8});
  const auto logits = tg::dense<"out", 2>(tg::layer_norm<"ln">(tg::flatten(deep)));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto train = tg::group(tg::minimize(loss, tg::sgd{0.2}), normal.update);
  const auto tested = tg::batch_norm<"bn", tg::phase::inference>(hidden);
  const auto seen = tg::mean<0, 1, 2>(hidden);
  tg::session session(tg::compile([=] { return tg::outputs(loss, train, tested, normal.output, seen); }), {.seed = 7});

  tg::tensor<float> images(tg::shape{16, 8, 8, 1});
  tg::tensor<std::int32_t> classes(tg::shape{16});
  for (tg::extent n = 0; n < 16; ++n) {
    classes[n] = static_cast<std::int32_t>(n % 2);
    for (tg::extent i = 0; i < 64; ++i)
      images[n * 64 + i] =
          ((i / 8 < 4) == (n % 2 == 0) ? 1.0f : 0.0f) + 0.01f * static_cast<float>((n * 64 + i) * 37 % 11);
  }
  // Fresh moving averages are 0 and 1: inference divides by the root of 1 + epsilon alone.
  const auto [before, features] = session.run(tg::fetch(tested, seen), x = images);
  double total = 0;
  for (const float v : before.span()) total += static_cast<double>(v);
  double expected = 0;
  for (const float v : features.span()) expected += static_cast<double>(v);
  CHECK(total == Approx(expected * 16 * 16 / std::sqrt(1.001)).epsilon(1e-4));

  const float start = session.run(loss, x = images, labels = classes);
  for (int step = 0; step < 40; ++step) session.run(train, x = images, labels = classes);
  const float end = session.run(loss, x = images, labels = classes);
  CHECK(end < start / 4);

  // The averages have followed the moments of the batch, so both phases nearly agree.
  const auto [frozen, fresh] = session.run(tg::fetch(tested, normal.output), x = images);
  for (tg::extent i = 0; i < frozen.dims().elements(); ++i) CHECK(frozen[i] == Approx(fresh[i]).margin(0.05));
}
