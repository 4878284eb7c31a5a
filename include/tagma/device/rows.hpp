// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows along the last axis, for kernels of all devices.

#include "tagma/tensor/shape.hpp"

namespace tagma::device {

/// The rows of a tensor of one axis or more, and the elements of each.
struct row_extents {
  std::int64_t rows, n;
  explicit row_extents(const shape& dims) : rows(dims.elements(0, dims.rank - 1)), n(dims[dims.rank - 1]) {}
};

}  // namespace tagma::device
