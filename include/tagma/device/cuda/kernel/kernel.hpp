// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels of the GPU share. They are registered for `on_cuda`, as device/kernel.hpp says.
///
/// Operands are addresses of the device. A kernel puts its work on the stream of the run and returns: it neither waits
/// nor allocates, so that a run can be recorded as a graph and replayed. What it needs beyond its operands is made by
/// `prepare`, which is called with the stream that runs will have.

#include "tagma/device/cuda/libraries.hpp"
#include "tagma/device/cuda/scalar.hpp"
#include "tagma/device/kernel.hpp"

/// nvcc 13 writes the name of a second variable among template arguments as `tagma::ir::tagma::ir::key`; with this name
/// that is right, too.
namespace tagma::ir {
namespace tagma = ::tagma;
}

namespace tagma::device {

/// A GPU by way of CUDA, as the device of a kernel.
struct on_cuda;

}  // namespace tagma::device
