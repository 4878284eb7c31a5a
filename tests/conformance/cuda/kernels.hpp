// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of GPUs that CUDA programs as values.

#include "conformance/kernels.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"

namespace tagma::conformance {

struct cuda_source {
  template <const char& Key>
  static constexpr bool has_loop = !requires {
    tagma::device::cuda::scalar_kernel<Key>::missing;
  };
  template <const char& Key>
  static constexpr bool has_kernel = !requires {
    tagma::device::cuda::kernel<Key>::missing;
  };
  template <const char& Key, dtype Out, dtype... In>
  static constexpr runtime::kernel_entry plain = tagma::device::cuda::kernel<Key>::template entry<Out, In...>;
  template <dtype Type, bool Contiguous>
  using load = tagma::device::cuda::load_of<Type, Contiguous>;
  template <const char& Key, dtype Out, int A, int B, int C>
  using operation = tagma::device::cuda::operation_of<Key, Out, A, B, C>;
  template <class Operation, class... Load>
  static constexpr runtime::kernel_entry loop =
      tagma::device::cuda::fused_loop<tagma::device::cuda::types<Load...>,
                                      tagma::device::cuda::types<Operation>>::entry;
};

// Families are compiled in several files, since together they would take long.
void add_loops(kernel_values& to);
void add_conversions(kernel_values& to);
void add_reductions(kernel_values& to);
void add_others(kernel_values& to);

}  // namespace tagma::conformance
