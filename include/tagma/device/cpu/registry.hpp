// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU as values.

#include "tagma/device/cpu/interpreted_loop.hpp"
#include "tagma/device/registry.hpp"

namespace tagma::device::cpu {

/// Kernels of a family, an element for each operation. A translation unit instantiates it where the kernels of the
/// family are included.
template <class Family>
struct registered {
  [[nodiscard]] static array_view<const kernel_registry::row> kernels();
};

namespace detail {

/// What loops call for an operation: a function over neighbours, compiled for several kinds of processors.
struct spans {
  template <class Op, operations::signature S, std::size_t... I>
  static loop_body find() {
    constexpr int b = S.inputs > 1 ? 1 : 0, c = S.inputs > 2 ? 2 : 0;
    using loop = fused_loop<on_cpu, types<load_of<S.in[I], true>...>, types<operation_of<ir::key<Op>, S.out, 0, b, c>>>;
    return body_of(best_variant<typename loop::body, std::byte*, const std::byte* const*, std::int64_t>());
  }
};

}  // namespace detail

template <class Family>
array_view<const kernel_registry::row> registered<Family>::kernels() {
  return device::detail::rows_of<on_cpu, detail::spans>(Family{});
}

}  // namespace tagma::device::cpu
