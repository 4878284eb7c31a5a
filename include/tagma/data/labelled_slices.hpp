// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Images and labels as a dataset.

#include <tuple>

#include "tagma/data/batches.hpp"
#include "tagma/data/make_dataset.hpp"

namespace tagma::datasets {

/// The images with their labels, one by one; a copy of both. Behind it `.shuffle(buffer, seed).epoch(n).batch(size)`
/// has the rows that it has behind `data`. Throws `invalid_argument` if there are not as many labels as images.
template <element Image, element Label>
[[nodiscard]] dataset<std::tuple<tensor<Image>, tensor<Label>>> slices(const labelled<Image, Label>& data) {
  return datasets::from_slices(data.images, data.labels);
}

}  // namespace tagma::datasets
