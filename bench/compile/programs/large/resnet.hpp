// SPDX-License-Identifier: BSL-1.0
// Residual networks for images, He et al. 2015: bottleneck or basic blocks, batch normalisation behind each convolution.
#pragma once

#include <utility>

#include "layers.hpp"

// The updates of the averages are one handle, a group that each block makes anew: a list of them would be a type, and
// symbols, as long as the network.

/// A convolution without bias and its batch normalisation: {output, updates}.
template <tg::fixed_string Name, int Filters, int Kernel, int Stride, tg::expression E>
auto conv_norm(const E& e) {
  auto kernel = tg::variable<Name / "kernel", float, Kernel, Kernel, E::spec.dims[3], Filters>(tg::he_normal);
  return tg::batch_norm<Name / "norm", tg::phase::training>(
      tg::conv2d<tg::conv_options{.stride = {Stride, Stride}, .padding = tg::same_padding}>(e, kernel));
}

template <tg::fixed_string Name, int Width, int Stride, bool Bottleneck, class E, class Updates>
auto block(const std::pair<E, Updates>& before) {
  const auto& x = before.first;
  constexpr int out = Bottleneck ? 4 * Width : Width;
  auto body = [&] {
    if constexpr (Bottleneck) {
      auto a = conv_norm<Name / "a", Width, 1, 1>(x);
      auto b = conv_norm<Name / "b", Width, 3, Stride>(tg::relu(a.output));
      auto c = conv_norm<Name / "c", out, 1, 1>(tg::relu(b.output));
      return std::make_pair(c.output, tg::group(before.second, a.update, b.update, c.update));
    } else {
      auto a = conv_norm<Name / "a", Width, 3, Stride>(x);
      auto b = conv_norm<Name / "b", Width, 3, 1>(tg::relu(a.output));
      return std::make_pair(b.output, tg::group(before.second, a.update, b.update));
    }
  }();
  if constexpr (Stride != 1 || E::spec.dims[3] != out) {
    auto shortcut = conv_norm<Name / "shortcut", out, 1, Stride>(x);
    return std::make_pair(tg::relu(body.first + shortcut.output), tg::group(body.second, shortcut.update));
  } else {
    return std::make_pair(tg::relu(body.first + x), body.second);
  }
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
  auto first = std::make_pair(tg::max_pool<3, halved>(tg::relu(stem.output)), tg::group(stem.update));
  auto s1 = stage<"stage1", 64, 1, Bottleneck, 0, A>(first);
  auto s2 = stage<"stage2", 128, 2, Bottleneck, 0, B>(s1);
  auto s3 = stage<"stage3", 256, 2, Bottleneck, 0, C>(s2);
  auto s4 = stage<"stage4", 512, 2, Bottleneck, 0, D>(s3);
  auto logits = tg::dense<"head", 10>(tg::global_average_pool(s4.first));
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto train = tg::group(tg::minimize(loss, tg::momentum{.learning_rate = 0.1}), s4.second);
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> images({2, 64, 64, 3});
  for (std::size_t i = 0; i < static_cast<std::size_t>(images.size()); ++i) images.data()[i] = static_cast<float>(i % 17) / 17.0f;
  tg::tensor<std::int32_t> labels({2}, {3, 5});
  train_a_little(session, loss, train, x = images, y = labels);
  return 0;
}
