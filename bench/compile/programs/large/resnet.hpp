// SPDX-License-Identifier: BSL-1.0
// Residual networks for images, He et al. 2015: bottleneck or basic blocks, batch normalisation behind each convolution.
#pragma once

#include "layers.hpp"

/// A convolution without bias and its batch normalisation.
template <tg::fixed_string Name, int Filters, int Kernel, int Stride, tg::expression E>
auto conv_norm(const E& e) {
  auto kernel = tg::variable<Name / "kernel", float, Kernel, Kernel, E::spec.dims[3], Filters>(tg::he_normal);
  return tg::batch_norm<Name / "norm">(
      tg::conv2d<tg::conv_options{.stride = {Stride, Stride}, .padding = tg::same_padding}>(e, kernel), tg::phase::training);
}

template <tg::fixed_string Name, int Width, int Stride, bool Bottleneck, class E>
auto block(const E& x) {
  constexpr int out = Bottleneck ? 4 * Width : Width;
  auto body = [&] {
    if constexpr (Bottleneck) {
      auto a = conv_norm<Name / "a", Width, 1, 1>(x);
      auto b = conv_norm<Name / "b", Width, 3, Stride>(tg::relu(a));
      return conv_norm<Name / "c", out, 1, 1>(tg::relu(b));
    } else {
      auto a = conv_norm<Name / "a", Width, 3, Stride>(x);
      return conv_norm<Name / "b", Width, 3, 1>(tg::relu(a));
    }
  }();
  if constexpr (Stride != 1 || E::spec.dims[3] != out)
    return tg::relu(body + conv_norm<Name / "shortcut", out, 1, Stride>(x));
  else
    return tg::relu(body + x);
}

template <tg::fixed_string Name, int Width, int Stride, bool Bottleneck, int I, int Count, class Before>
auto stage(const Before& before) {
  if constexpr (I == Count)
    return before;
  else
    return stage<Name, Width, Stride, Bottleneck, I + 1, Count>(
        block<numbered<Name, I>, Width, (I == 0 ? Stride : 1), Bottleneck>(before));
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 64, 64, 3>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();

constexpr tg::pool_options halved{.stride = 2, .padding = tg::same_padding};

template <bool Bottleneck, int A, int B, int C, int D, tg::expression E>
int train_resnet(const E& images_in) {
  auto stem = conv_norm<"stem", 64, 7, 2>(images_in);
  auto first = tg::max_pool<3, halved>(tg::relu(stem));
  auto s1 = stage<"stage1", 64, 1, Bottleneck, 0, A>(first);
  auto s2 = stage<"stage2", 128, 2, Bottleneck, 0, B>(s1);
  auto s3 = stage<"stage3", 256, 2, Bottleneck, 0, C>(s2);
  auto s4 = stage<"stage4", 512, 2, Bottleneck, 0, D>(s3);
  auto logits = tg::dense<"head", 10>(tg::global_average_pool(s4));
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.1});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> images({2, 64, 64, 3});
  for (std::size_t i = 0; i < static_cast<std::size_t>(images.size()); ++i) images.data()[i] = static_cast<float>(i % 17) / 17.0f;
  tg::tensor<std::int32_t> labels({2}, {3, 5});
  train_a_little(session, loss, train, x = images, y = labels);
  return 0;
}
