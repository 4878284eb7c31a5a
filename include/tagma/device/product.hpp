// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products in numbers, for kernels of all devices.

#include "tagma/device/kernel.hpp"
#include "tagma/expr/op/matmul.hpp"

namespace tagma::device {

/// A product of an [m, k] and a [k, n] matrix, either transposed in memory, for each position of the axes before.
struct product_extents {
  bool transpose_a, transpose_b;
  bool one;  ///< the axes before, if any, are nothing but more rows of the first matrix
  std::int64_t m, n, k;

  explicit product_extents(const kernel_args& args)
      : transpose_a(args.attributes[0] != 0), transpose_b(args.attributes[1] != 0) {
    const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
    one = out.rank == 2 || (y.rank == 2 && !transpose_a);
    m = one ? out.elements(0, out.rank - 1) : out[out.rank - 2];
    n = out[out.rank - 1];
    k = x[x.rank - (transpose_a ? 2 : 1)];
  }
};

}  // namespace tagma::device
