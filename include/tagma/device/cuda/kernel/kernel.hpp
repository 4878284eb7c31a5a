// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a kernel of the GPU is registered: a specialisation of `kernel` for its operation, or of `scalar_kernel` for an
/// element-wise one. Operations of a user's own are registered the same way, outside these headers.
///
/// Operands are addresses of the device. A kernel puts its work on the stream of the run and returns: it neither waits
/// nor allocates, so that a run can be recorded as a graph and replayed. What it needs beyond its operands is made by
/// `prepare`, which is called with the stream that runs will have.

#include "tagma/device/cuda/libraries.hpp"
#include "tagma/device/cuda/scalar.hpp"

/// nvcc 13 writes the name of a second variable among template arguments as `tagma::ir::tagma::ir::key`; with this name
/// that is right, too.
namespace tagma::ir {
namespace tagma = ::tagma;
}

namespace tagma::device::cuda {

/// The kernel of an operation on the GPU. A specialisation has
/// `template <dtype Out, dtype... In> static constexpr kernel_entry entry`.
template <const char& Operation>
struct kernel {
  static constexpr bool missing = true;
};

/// The body of an element-wise operation: `template <class Out, class... In> TAGMA_DEVICE static Out apply(In...)` over
/// single numbers, where 16-bit floats are float.
template <const char& Operation>
struct scalar_kernel {
  static constexpr bool missing = true;
};

}  // namespace tagma::device::cuda
