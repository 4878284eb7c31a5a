// SPDX-License-Identifier: BSL-1.0
// A step is a shuffled batch of 128 of 60,000 images of 784 floats with their labels, made by another thread ahead.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/datasets.hpp"

namespace tg = tagma;

int main() {
  tg::tensor<float> images({60'000, 784});
  tg::tensor<std::uint8_t> labels({60'000});
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i % 256) / 255;
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  auto batches = tg::datasets::from_slices(images, labels).global_shuffle(1).repeat().batch(128).prefetch(4).iterator();
  return peers::serve(TAGMA_VERSION, [&](std::int64_t) { return static_cast<double>(std::get<0>(batches.next())[7]); });
}
