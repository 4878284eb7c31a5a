// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU as values.

#include <tuple>

#include "conformance/kernels.hpp"
#include "tagma/device/cpu/kernel_table.hpp"

namespace tagma::conformance {

struct cpu_source {
  template <const char& Key>
  static constexpr bool has_loop = diagnose::cpu_has_loop_body<Key>;
  template <const char& Key>
  static constexpr bool has_kernel = diagnose::cpu_has_kernel<Key>;
  template <const char& Key, dtype Out, dtype... In>
  static constexpr runtime::kernel_entry plain = tagma::device::cpu::kernel<Key>::template entry<Out, In...>;
  template <dtype Type, bool Contiguous>
  using load = tagma::device::cpu::load_of<Type, Contiguous>;
  template <const char& Key, dtype Out, int A, int B, int C>
  using operation = tagma::device::cpu::operation_of<Key, Out, A, B, C>;
  template <class Operation, class... Load>
  static constexpr runtime::kernel_entry loop =
      tagma::device::cpu::fused_loop<std::tuple<Load...>, std::tuple<Operation>>::entry;
};

/// All of them.
[[nodiscard]] const kernel_values& cpu_kernels();

// Families are compiled in several files, since together they would take long.
void add_loops(kernel_values& to);
void add_conversions(kernel_values& to);
void add_reductions(kernel_values& to);
void add_others(kernel_values& to);

}  // namespace tagma::conformance
