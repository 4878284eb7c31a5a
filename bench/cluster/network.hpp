// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The network 784-300-100-10 that workers of a cluster train, and the first images of Fashion-MNIST; random ones of
/// that size where the data set is not on the machine.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "protocol.hpp"
#include "tagma/data/fashion_mnist.hpp"
#include "tagma/tagma.hpp"

namespace peers {

constexpr auto x = tagma::placeholder<"x", float, tagma::dyn, 784>();
constexpr auto y = tagma::placeholder<"y", std::uint8_t, tagma::dyn>();
constexpr auto hidden1 = tagma::dense<"hidden1", 300>(x, tagma::relu);
constexpr auto hidden2 = tagma::dense<"hidden2", 100>(hidden1, tagma::relu);
constexpr auto loss = tagma::mean(tagma::sparse_softmax_cross_entropy(tagma::dense<"logits", 10>(hidden2), y));
inline const tagma::sgd optimizer{.learning_rate = sgd_rate};

struct batch {
  tagma::tensor<float> images;
  tagma::tensor<std::uint8_t> labels;
};

inline std::vector<batch> make_batches(int size) {
  std::vector<batch> result;
  if (!tagma::fashion_mnist_directory().empty()) {
    const tagma::fashion_mnist_data all = tagma::fashion_mnist();
    for (const auto& [images, labels] : all.train.batch(size)) {
      result.push_back({{tagma::shape{size, 784}, images.span()}, {tagma::shape{size}, labels.span()}});
      if (result.size() == batches) return result;
    }
  }
  for (unsigned i = 0; i < batches; ++i) {
    const data d = make_batch(size, i);
    result.push_back({{tagma::shape{size, 784}, d.images}, {tagma::shape{size}, d.labels}});
  }
  return result;
}

/// Answers the driver with steps of a session.
template <class Session, class Train>
int serve_steps(const char* version, Session& session, const Train& train, int size) {
  const std::vector<batch> all = make_batches(size);
  return serve(version, [&](std::int64_t i) {
    const batch& b = all[static_cast<std::size_t>(i % batches)];
    const auto [value, done] = session.run(tagma::fetch(loss, train), x = b.images, y = b.labels);
    return static_cast<double>(value);
  });
}

}  // namespace peers
