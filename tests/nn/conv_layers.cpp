// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/conv_layers.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("a small convolutional network learns which half of an image is bright", "[conv_layers]") {
  const auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 1>();
  const auto labels = tg::placeholder<"labels", std::int32_t, tg::dyn>();
  constexpr tg::conv_options options{.padding = tg::same_padding};
  const auto hidden = tg::max_pool<2>(tg::conv2d<"conv1", 4, 3, options>(x, tg::relu));
  const auto normal = tg::batch_norm<"bn">(hidden, tg::phase::training, 0.5);
  const auto deep = tg::conv2d<"conv2", 8, tg::window(3, 3)>(normal, tg::tanh);
  static_assert(decltype(deep)::spec.dims == tg::shape{tg::dyn, 2, 2, 8});
  const auto logits = tg::dense<"out", 2>(tg::layer_norm<"ln">(tg::flatten(deep)));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto train = tg::minimize(loss, tg::sgd{0.2});
  const auto tested = tg::batch_norm<"bn">(hidden, tg::phase::inference);
  const auto seen = tg::mean<0, 1, 2>(hidden);
  tg::session session(tg::compile([=] { return tg::outputs(loss, train, tested, normal, seen); }), {.seed = 7});

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
  const auto [frozen, fresh] = session.run(tg::fetch(tested, normal), x = images);
  for (tg::extent i = 0; i < frozen.dims().elements(); ++i) CHECK(frozen[i] == Approx(fresh[i]).margin(0.05));
}

namespace {

/// The moments of each channel of [.., 3] by their definition.
struct moments {
  std::array<double, 3> mean{}, variance{};

  explicit moments(const tg::tensor<double>& x) {
    const auto rows = static_cast<double>(x.dims()[0]);
    for (tg::extent i = 0; i < x.dims().elements(); ++i) mean[static_cast<std::size_t>(i % 3)] += x[i] / rows;
    for (tg::extent i = 0; i < x.dims().elements(); ++i) {
      const auto c = static_cast<std::size_t>(i % 3);
      variance[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / rows;
    }
  }
};

/// Trains a layer of this momentum on batches of several sizes, and compares its averages after each.
template <tg::fixed_string Name>
void check_averages(double momentum) {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3>();
  const auto layer = tg::batch_norm<Name>(x, tg::phase::training, momentum);
  const auto mean = tg::variable<Name / "moving_mean", double, 3>(tg::zeros, tg::not_trainable);
  const auto variance = tg::variable<Name / "moving_variance", double, 3>(tg::ones, tg::not_trainable);
  const auto update = tg::update_averages(layer);
  tg::session session(tg::compile([=] { return tg::outputs(update, mean, variance); }));

  std::array<double, 3> expected_mean{0, 0, 0}, expected_variance{1, 1, 1};
  for (int step = 0; step < 5; ++step) {
    tg::tensor<double> batch(tg::shape{3 + step, 3});
    for (tg::extent i = 0; i < batch.dims().elements(); ++i)
      batch[i] = static_cast<double>((i * 37 + step * 11) % 23) / 4 + static_cast<double>(i % 3) * 5 + step;
    session.run(update, x = batch);
    const moments now(batch);
    const auto [got_mean, got_variance] = session.run(tg::fetch(mean, variance));
    for (std::size_t c = 0; c < 3; ++c) {
      expected_mean[c] = momentum * expected_mean[c] + (1 - momentum) * now.mean[c];
      expected_variance[c] = momentum * expected_variance[c] + (1 - momentum) * now.variance[c];
      CHECK(got_mean[static_cast<tg::extent>(c)] == Approx(expected_mean[c]).epsilon(1e-12).margin(1e-12));
      CHECK(got_variance[static_cast<tg::extent>(c)] == Approx(expected_variance[c]).epsilon(1e-12).margin(1e-12));
    }
  }
}

}  // namespace

TEST_CASE("moving averages keep the share of the momentum, and take the rest from the batch", "[conv_layers]") {
  check_averages<"slow">(0.9);
  check_averages<"fast">(0.1);
  check_averages<"last">(0);   // the moments of the last batch
  check_averages<"first">(1);  // as they were made
}

TEST_CASE("without a momentum, a hundredth of an average comes from the batch", "[conv_layers]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3>();
  const auto layer = tg::batch_norm<"usual">(x, tg::phase::training);
  const auto mean = tg::variable<"usual/moving_mean", double, 3>(tg::zeros, tg::not_trainable);
  const auto update = tg::update_averages(layer);
  tg::session session(tg::compile([=] { return tg::outputs(update, mean); }));
  session.run(update, x = tg::tensor<double>(tg::shape{2, 3}, {100, 0, 50, 300, 0, 50}));
  const auto got = session.run(mean);
  CHECK(got[0] == Approx(2));
  CHECK(got[1] == 0);
  CHECK(got[2] == Approx(0.5));
}

TEST_CASE("a batch without rows leaves the averages as they are", "[conv_layers]") {
  const auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  const auto layer = tg::batch_norm<"empty">(x, tg::phase::training, 0.5);
  const auto mean = tg::variable<"empty/moving_mean", float, 2>(tg::zeros, tg::not_trainable);
  const auto variance = tg::variable<"empty/moving_variance", float, 2>(tg::ones, tg::not_trainable);
  const auto update = tg::update_averages(layer);
  tg::session session(tg::compile([=] { return tg::outputs(update, mean, variance); }));
  const auto check = [&] {
    const auto [means, variances] = session.run(tg::fetch(mean, variance));
    CHECK((means[0] == 1 && means[1] == 4 && variances[0] == 1 && variances[1] == 0.5f));
  };
  session.run(update, x = tg::tensor<float>({2, 2}, {1, 8, 3, 8}));
  check();
  session.run(update, x = tg::tensor<float>({0, 2}));
  check();
  // A moment that is no number for another reason is seen.
  session.run(update, x = tg::tensor<float>({1, 2}, {std::numeric_limits<float>::quiet_NaN(), 4}));
  const auto means = session.run(mean);
  CHECK((std::isnan(means[0]) && means[1] == 4));
}

TEST_CASE("averages of 16 bits are floats, and reach what they average", "[conv_layers]") {
  const auto x = tg::placeholder<"x", tg::bfloat16, tg::dyn, 2>();
  const auto y = tg::batch_norm<"bn">(x, tg::phase::training);
  const auto tested = tg::batch_norm<"bn">(x, tg::phase::inference);
  const auto mean = tg::variable<"bn/moving_mean", float, 2>(tg::zeros, tg::not_trainable);
  const auto variance = tg::variable<"bn/moving_variance", float, 2>(tg::ones, tg::not_trainable);
  const auto train = tg::minimize(tg::sum(y), tg::sgd{0});
  tg::session session(tg::compile([=] { return tg::outputs(train, tested, mean, variance); }));
  const auto b = [](float v) { return tg::bfloat16(v); };
  const tg::tensor<tg::bfloat16> batch(tg::shape{2, 2}, {b(2), b(-1), b(6), b(1)});
  for (int i = 0; i < 1500; ++i) session.run(train, x = batch);
  const auto [m, v, out] = session.run(tg::fetch(mean, variance, tested), x = batch);
  CHECK((m[0] == Approx(4).epsilon(1e-3) && m[1] == Approx(0).margin(1e-3)));
  CHECK((v[0] == Approx(4).epsilon(1e-3) && v[1] == Approx(1).epsilon(1e-3)));
  for (tg::extent i = 0; i < 4; ++i) CHECK(static_cast<float>(out[i]) == Approx(i < 2 ? -1 : 1).epsilon(1e-2));
}
