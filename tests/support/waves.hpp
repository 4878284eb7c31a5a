// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Inputs that are no constants, the same in every run.

#include <cmath>

#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

/// sin(0.37 i + phase), row by row.
[[nodiscard]] inline tensor<double> waves(const shape& dims, double phase) {
  tensor<double> t(dims);
  for (extent i = 0; i < dims.elements(); ++i) t[i] = std::sin(0.37 * static_cast<double>(i) + phase);
  return t;
}

}  // namespace tagma::test
