// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU as values, which the suite finds by operation and element types.

#include <vector>

#include "conformance/operations.hpp"
#include "tagma/device/cpu/kernel_table.hpp"

namespace tagma::conformance {

/// One kernel. Of a loop there are several: bit i of `stretched` says that all elements of a row read one of input i.
struct cpu_kernel {
  const char* key = nullptr;
  signature types;
  unsigned stretched = 0;
  runtime::kernel_entry entry;
};
using cpu_kernels = std::vector<cpu_kernel>;

// Families are compiled in several files, since together they would take long.
void add_loops(cpu_kernels& to);
void add_conversions(cpu_kernels& to);
void add_reductions(cpu_kernels& to);
void add_others(cpu_kernels& to);

namespace detail {

template <class Op, signature S, std::size_t... I>
constexpr runtime::kernel_entry plain_kernel(std::index_sequence<I...>) {
  return tagma::device::cpu::kernel<ir::key<Op>>::template entry<S.out, S.in[I]...>;
}

template <class Op, signature S, unsigned Stretched, std::size_t... I>
constexpr runtime::kernel_entry loop_kernel(std::index_sequence<I...>) {
  constexpr int b = S.inputs > 1 ? 1 : 0, c = S.inputs > 2 ? 2 : 0;
  return tagma::device::cpu::fused_loop<
      std::tuple<tagma::device::cpu::load_of<S.in[I], ((Stretched >> I) & 1) == 0>...>,
      std::tuple<tagma::device::cpu::operation_of<ir::key<Op>, S.out, 0, b, c>>>::entry;
}

template <class Op, signature S, unsigned... Stretched>
void add_variants(cpu_kernels& to, std::integer_sequence<unsigned, Stretched...>) {
  constexpr auto inputs = std::make_index_sequence<static_cast<std::size_t>(S.inputs)>{};
  (to.push_back({&ir::key<Op>, S, Stretched, loop_kernel<Op, S, Stretched>(inputs)}), ...);
}

template <class Op, signature S>
void add_kernel(cpu_kernels& to) {
  constexpr auto inputs = std::make_index_sequence<static_cast<std::size_t>(S.inputs)>{};
  if constexpr (Op::kind == ir::op_kind::elementwise) {
    if constexpr (diagnose::cpu_has_loop_body<ir::key<Op>>)
      add_variants<Op, S>(to, std::make_integer_sequence<unsigned, 1u << S.inputs>{});
  } else if constexpr (diagnose::cpu_has_kernel<ir::key<Op>>) {
    to.push_back({&ir::key<Op>, S, 0, plain_kernel<Op, S>(inputs)});
  }
}

template <class Row, std::size_t... I>
void add_row(cpu_kernels& to, std::index_sequence<I...>) {
  (add_kernel<typename Row::operation, Row::signatures.list[I]>(to), ...);
}

}  // namespace detail

/// Adds the kernels of a family, those that the CPU has.
template <class... Row>
void add_family(family<Row...>, cpu_kernels& to) {
  (detail::add_row<Row>(to, std::make_index_sequence<Row::signatures.count>{}), ...);
}

}  // namespace tagma::conformance
