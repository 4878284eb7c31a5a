// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All kernels of the registry.

#include "tagma/device/cpu/found_kernels.hpp"
#include "tagma/device/cpu/kernel/cell.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/filter.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/shuffle.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"

namespace tagma::device::cpu {

/// The kernels of the operations of the library.
[[nodiscard]] inline const kernel_registry& all_kernels() {
  namespace op = operations;
  static const array_view<const kernel_registry::row> families[] = {
      registered<op::arithmetic>::kernels(), registered<op::comparison>::kernels(),
      registered<op::conversion>::kernels(), registered<op::elementary>::kernels(),
      registered<op::reduction>::kernels(),  registered<op::contraction>::kernels(),
      registered<op::pooling>::kernels(),    registered<op::rows>::kernels(),
      registered<op::cells>::kernels(),      registered<op::order>::kernels(),
      registered<op::filters>::kernels(),    registered<op::movement>::kernels(),
      registered<op::state>::kernels(),      registered<op::chance>::kernels(),
      registered<op::training>::kernels(),   registered<op::internal>::kernels()};
  static const kernel_registry all(families);
  return all;
}

}  // namespace tagma::device::cpu
