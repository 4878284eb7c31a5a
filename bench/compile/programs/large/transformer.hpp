// SPDX-License-Identifier: BSL-1.0
// An encoder of transformer blocks, Vaswani et al. 2017, with clipping by global norm.
#pragma once

#include "layers.hpp"

constexpr tg::extent length = 32, width = 64, heads = 4, words = 50;
constexpr auto x = tg::placeholder<"x", std::int32_t, tg::dyn, length>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn, length>();

template <tg::expression E>
auto split_heads(const E& e) {
  return tg::transpose<0, 2, 1, 3>(tg::reshape<tg::dyn, length, heads, width / heads>(e));
}

template <tg::fixed_string Name, tg::expression E>
auto attention(const E& e) {
  auto q = split_heads(tg::dense<Name / "q", width>(e));
  auto k = split_heads(tg::dense<Name / "k", width>(e));
  auto v = split_heads(tg::dense<Name / "v", width>(e));
  auto p = tg::dropout(tg::softmax(tg::matmul<false, true>(q, k) * 0.25f), 0.1);
  auto joined = tg::reshape<tg::dyn, length, width>(tg::transpose<0, 2, 1, 3>(tg::matmul(p, v)));
  return tg::dense<Name / "o", width>(joined);
}

template <tg::fixed_string Name, tg::expression E>
auto block(const E& e) {
  auto h = e + tg::dropout(attention<Name / "attention">(tg::layer_norm<Name / "norm1">(e)), 0.1);
  auto wide = tg::dense<Name / "wide", 4 * width>(tg::layer_norm<Name / "norm2">(h), tg::gelu);
  return h + tg::dropout(tg::dense<Name / "narrow", width>(wide), 0.1);
}

template <int I, int Blocks, tg::expression E>
auto encoder(const E& e) {
  if constexpr (I == Blocks)
    return e;
  else
    return encoder<I + 1, Blocks>(block<numbered<"block", I>>(e));
}

template <int Blocks>
int train_transformer() {
  auto table = tg::variable<"embedding", float, words, width>(tg::random_normal(0.0f, 0.05f));
  auto position = tg::variable<"position", float, length, width>(tg::random_normal(0.0f, 0.05f));
  auto h = encoder<0, Blocks>(tg::embedding_lookup(table, x) + position);
  auto logits = tg::dense<"head", words>(tg::layer_norm<"final">(h));
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3}, tg::clip_by_global_norm(1.0f));
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 42});
  tg::tensor<std::int32_t> xs({8, length}), ys({8, length});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<std::int32_t>(i * 7 % 50), ys.data()[i] = static_cast<std::int32_t>(i * 11 % 50);
  train_a_little(session, loss, train, x = xs, y = ys);
  return 0;
}
