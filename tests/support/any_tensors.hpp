// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors for tests of programs that are data.

#include <cmath>
#include <cstring>

#include "tagma/tensor/any_tensor.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

/// Numbers between -0.7 and 0.7, others for another seed.
[[nodiscard]] inline tensor<float> some(const shape& dims, int seed) {
  tensor<float> t(dims);
  for (extent i = 0; i < dims.elements(); ++i)
    t[i] = static_cast<float>(0.7 * std::sin(seed + 1.7 * static_cast<double>(i)));
  return t;
}
[[nodiscard]] inline bool same_bytes(const any_tensor& a, const any_tensor& b) {
  return a.dims() == b.dims() && a.type() == b.type() &&
         std::memcmp(a.view().data, b.view().data, a.view().bytes()) == 0;
}

}  // namespace tagma::test
