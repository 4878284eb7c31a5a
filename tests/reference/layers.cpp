// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/layers.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: layers") {
  // example: dense, linear, sequential
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
  auto hidden = tg::dense<"hidden", 16>(x, tg::relu);  // [?, 16]; hidden/kernel [8, 16] and hidden/bias [16]
  auto logits = tg::dense<"logits", 3>(hidden, tg::linear, tg::he_normal);  // [?, 3]; how the kernel begins
  auto model = tg::sequential([](const auto& e) { return tg::dense<"first", 16>(e); }, tg::relu,
                              [](const auto& e) { return tg::dense<"second", 3>(e); });
  auto scores = model(x);  // [?, 3]
  // end
  CHECK(text(hidden) == "[?, 16]");
  CHECK(text(logits) == "[?, 3]");
  auto kernel = tg::variable<"hidden/kernel", float, 8, 16>(tg::glorot_uniform);
  auto bias = tg::variable<"hidden/bias", float, 16>(tg::zeros);
  CHECK(text(kernel) == "[8, 16]");
  CHECK(text(bias) == "[16]");

  // example: layer_norm, group_norm, rms_norm
  auto normal = tg::layer_norm<"norm">(hidden);          // each row by its mean and variance
  auto in_groups = tg::group_norm<"groups", 4>(hidden);  // four groups of four features
  auto by_size = tg::rms_norm<"rms">(hidden);            // without a mean, and without a shift
  // end
  // example: batch_norm, phase
  auto training =
      tg::batch_norm<"batch">(hidden, tg::phase::training);  // by the moments of the batch; minimize moves averages
  auto inference = tg::batch_norm<"batch">(hidden, tg::phase::inference);  // by these averages: the same variables
  // end
  const auto all_outputs = tg::outputs(scores, logits, kernel, bias, normal, in_groups, by_size, training, inference);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> xs({2, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(session.run(scores, x = xs).dims() == tg::shape{2, 3});
  CHECK(session.run(logits, x = xs).dims() == tg::shape{2, 3});
  CHECK(session.run(kernel).dims() == tg::shape{8, 16});
  CHECK(session.run(normal, x = xs).dims() == tg::shape{2, 16});
  CHECK(session.run(in_groups, x = xs).dims() == tg::shape{2, 16});
  CHECK(session.run(by_size, x = xs).dims() == tg::shape{2, 16});
  CHECK(session.run(training, x = xs).dims() == tg::shape{2, 16});
  CHECK(session.run(inference, x = xs).dims() == tg::shape{2, 16});
}

TEST_CASE("reference: layers over images and time") {
  // example: conv2d, depthwise_conv2d
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 3>();
  constexpr tg::conv_options same{.padding = tg::same_padding};
  auto features = tg::conv2d<"conv", 16, 3, same>(images, tg::relu);  // [?, 28, 28, 16]; conv/kernel [3, 3, 3, 16]
  auto each = tg::depthwise_conv2d<"each", 5, 2>(images);             // [?, 24, 24, 6]: two filters for each channel
  // end
  // example: upsample2d, resize_bilinear
  auto larger = tg::upsample2d<2>(images);             // [?, 56, 56, 3]: each pixel four times
  auto smaller = tg::resize_bilinear<14, 20>(images);  // [?, 14, 20, 3]
  // end
  // example: conv3d, conv3d_options, volume
  constexpr auto scans =
      tg::placeholder<"scans", float, tg::dyn, 6, 8, 8, 1>();  // batch, depth, height, width, channels
  auto solid = tg::conv3d<"solid", 4, 3>(scans, tg::relu);     // [?, 4, 6, 6, 4]
  auto slices =
      tg::conv3d<"slices", 4, tg::volume(1, 3, 3), tg::conv3d_options{.same = true}>(scans);  // [?, 6, 8, 8, 4]
  // end
  // example: conv1d, conv1d_options
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 100, 4>();  // batch, time, channels
  auto plain = tg::conv1d<"plain", 32, 3>(series, tg::relu);                    // [?, 98, 32]
  auto causal = tg::conv1d<"causal", 32, 3, tg::conv1d_options{.causal = true, .dilation = 4}>(series);  // [?, 100, 32]
  // end
  tg::session session(
      tg::compile([=] { return tg::outputs(features, each, larger, smaller, solid, slices, plain, causal); }));
  const tg::tensor<float> some({1, 28, 28, 3}), times({1, 100, 4});
  CHECK(text(features) == "[?, 28, 28, 16]");
  CHECK(text(tg::variable<"conv/kernel", float, 3, 3, 3, 16>(tg::glorot_uniform)) == "[3, 3, 3, 16]");
  CHECK(session.run(features, images = some).dims() == tg::shape{1, 28, 28, 16});
  CHECK(text(each) == "[?, 24, 24, 6]");
  CHECK(session.run(each, images = some).dims() == tg::shape{1, 24, 24, 6});
  CHECK(text(larger) == "[?, 56, 56, 3]");
  CHECK(session.run(larger, images = some).dims() == tg::shape{1, 56, 56, 3});
  CHECK(text(smaller) == "[?, 14, 20, 3]");
  CHECK(session.run(smaller, images = some).dims() == tg::shape{1, 14, 20, 3});
  const tg::tensor<float> volumes({1, 6, 8, 8, 1});
  CHECK(text(solid) == "[?, 4, 6, 6, 4]");
  CHECK(session.run(solid, scans = volumes).dims() == tg::shape{1, 4, 6, 6, 4});
  CHECK(text(slices) == "[?, 6, 8, 8, 4]");
  CHECK(session.run(slices, scans = volumes).dims() == tg::shape{1, 6, 8, 8, 4});
  CHECK(text(plain) == "[?, 98, 32]");
  CHECK(session.run(plain, series = times).dims() == tg::shape{1, 98, 32});
  CHECK(text(causal) == "[?, 100, 32]");
  CHECK(session.run(causal, series = times).dims() == tg::shape{1, 100, 32});
}

TEST_CASE("reference: recurrent layers") {
  // example: rnn, gru, lstm, last_output, return_sequences, recurrent_output
  constexpr auto sequence = tg::placeholder<"sequence", float, tg::dyn, tg::dyn, 8>();  // batch, time, features
  auto last = tg::lstm<"lstm", 16>(sequence);  // [?, 16]: the output of the last step, as with tg::last_output
  auto every = tg::gru<"gru", 16>(sequence, tg::return_sequences);  // [?, ?, 16]
  auto simple = tg::rnn<"rnn", 4>(sequence);                        // [?, 4]
  // end
  // example: operator|
  constexpr auto short_one = tg::placeholder<"short_one", float, tg::dyn, 5, 8>();
  auto steps =
      tg::gru<"gru", 16>(short_one, tg::return_sequences | tg::unrolled);  // [?, 5, 16]: nodes instead of a loop
  // end
  // example: bidirectional
  auto both = tg::bidirectional<"both">([](const auto& s) { return tg::gru<"gru", 16>(s); })(sequence);  // [?, 32]
  // end
  // example: lstm_cell, gru_cell
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
  constexpr auto h = tg::placeholder<"h", float, tg::dyn, 16>();
  constexpr auto c = tg::placeholder<"c", float, tg::dyn, 16>();
  auto kernel = tg::variable<"cell/kernel", float, 24, 64>(tg::glorot_uniform);  // 8 features + 16 units, 4 * 16
  auto bias = tg::variable<"cell/bias", float, 64>(tg::zeros);
  auto [next_h, next_c] = tg::lstm_cell(x, h, c, kernel, bias);  // [?, 16] each
  auto gates = tg::variable<"gates/kernel", float, 24, 32>(tg::glorot_uniform);
  auto gates_bias = tg::variable<"gates/bias", float, 32>(tg::ones);
  auto candidate = tg::variable<"candidate/kernel", float, 24, 16>(tg::glorot_uniform);
  auto candidate_bias = tg::variable<"candidate/bias", float, 16>(tg::zeros);
  auto of_gru = tg::gru_cell(x, h, gates, gates_bias, candidate, candidate_bias);  // [?, 16]
  // end
  const auto all_outputs = tg::outputs(last, every, simple, steps, both, next_h, of_gru);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> some({2, 5, 8}), xs({2, 8}), states({2, 16});
  CHECK(text(last) == "[?, 16]");
  CHECK(text(every) == "[?, ?, 16]");
  CHECK(text(simple) == "[?, 4]");
  CHECK(text(steps) == "[?, 5, 16]");
  CHECK(text(both) == "[?, 32]");
  CHECK(text(next_h) == "[?, 16]");
  CHECK(text(next_c) == "[?, 16]");
  CHECK(text(of_gru) == "[?, 16]");
  CHECK(session.run(last, sequence = some).dims() == tg::shape{2, 16});
  CHECK(session.run(simple, sequence = some).dims() == tg::shape{2, 4});
  CHECK(text(session.run(every, sequence = some)) == text(session.run(steps, short_one = some)));
  CHECK(session.run(both, sequence = some).dims() == tg::shape{2, 32});
  CHECK(session.run(next_h, x = xs, h = states, c = states).dims() == tg::shape{2, 16});
  CHECK(session.run(of_gru, x = xs, h = states).dims() == tg::shape{2, 16});
}
