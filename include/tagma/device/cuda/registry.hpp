// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of GPUs as values, for files that nvcc compiles.

#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/registry.hpp"

namespace tagma::device::cuda {

/// Kernels of a family, as those of the CPU (device/cpu/registry.hpp).
template <class Family>
struct registered {
  [[nodiscard]] static array_view<const kernel_registry::row> kernels();
};

/// Of what plans have beside the operations of programs, those that GPUs have kernels for.
using internal_operations =
    operations::family<operations::row<ir::loop_copy, &operations::same<&operations::is_no_string, 1>>>;

namespace detail {

/// What loops call for an operation: the loop of that alone.
struct loops_apart {
  template <class Op, operations::signature S, std::size_t... I>
  static loop_body find() {
    constexpr int b = S.inputs > 1 ? 1 : 0, c = S.inputs > 2 ? 2 : 0;
    using loop =
        fused_loop<on_cuda, types<load_of<S.in[I], true>...>, types<operation_of<ir::key<Op>, S.out, 0, b, c>>>;
    return reinterpret_cast<loop_body>(&run_apart<loop>);
  }
};

}  // namespace detail

template <class Family>
array_view<const kernel_registry::row> registered<Family>::kernels() {
  return device::detail::rows_of<on_cuda, detail::loops_apart>(Family{});
}

}  // namespace tagma::device::cuda
