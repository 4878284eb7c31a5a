// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU as values, found by operation and element types: the classes that `kernel_table.hpp` picks
/// from, for every signature of `operations.hpp`. Plain programs include none of this.

#include <utility>

#include "tagma/device/cpu/interpreted_loop.hpp"
#include "tagma/device/operations.hpp"

namespace tagma::device::cpu {

/// One kernel: of an operation, or the body of an element-wise one.
struct registered_kernel {
  const char* key = nullptr;
  operations::signature types;
  kernel_entry entry;
  span_function (*span)() = nullptr;  ///< of an element-wise operation, over neighbours; the best for this machine
};

/// Kernels of a family, an element for each operation. A translation unit instantiates it where the kernels of the
/// family are included.
template <class Family>
struct registered {
  [[nodiscard]] static array_view<const array_view<const registered_kernel>> kernels();
};

namespace detail {

[[nodiscard]] constexpr bool is_half(dtype type) { return type == dtype::float16 || type == dtype::bfloat16; }

/// Loops compute with floats instead of halves, and convert.
template <class Op, operations::signature S>
inline constexpr bool is_in_loops =
    &ir::key<Op> == &ir::key<op::cast> || !(is_half(S.out) || is_half(S.in[0]) || is_half(S.in[S.inputs - 1]));

template <class Op, operations::signature S, std::size_t... I>
span_function find_span() {
  constexpr int b = S.inputs > 1 ? 1 : 0, c = S.inputs > 2 ? 2 : 0;
  using loop = fused_loop<on_cpu, types<load_of<S.in[I], true>...>, types<operation_of<ir::key<Op>, S.out, 0, b, c>>>;
  return best_variant<typename loop::body, std::byte*, const std::byte* const*, std::int64_t>();
}

template <class Op, operations::signature S, std::size_t... O, std::size_t... I>
constexpr kernel_entry entry_of_several(std::index_sequence<O...>, std::index_sequence<I...>) {
  return kernel<on_cpu, ir::key<Op>>::template entry<S.output(O)..., S.in[I]...>;
}

template <class Op, operations::signature S, std::size_t... I>
constexpr registered_kernel kernel_of(std::index_sequence<I...> inputs) {
  registered_kernel k{&ir::key<Op>, S, {}, nullptr};
  if constexpr (Op::kind == ir::op_kind::elementwise) {
    if constexpr (is_in_loops<Op, S>) k.span = &find_span<Op, S, I...>;
  } else if constexpr (requires { Op::outputs; }) {
    k.entry = entry_of_several<Op, S>(std::make_index_sequence<static_cast<std::size_t>(Op::outputs)>{}, inputs);
  } else {
    k.entry = kernel<on_cpu, ir::key<Op>>::template entry<S.out, S.in[I]...>;
  }
  return k;
}

template <class Row, class Signatures = std::make_index_sequence<Row::signatures.count>>
struct registered_row;
template <class Row, std::size_t... S>
struct registered_row<Row, std::index_sequence<S...>> {
  static constexpr registered_kernel list[] = {kernel_of<typename Row::operation, Row::signatures.list[S]>(
      std::make_index_sequence<static_cast<std::size_t>(Row::signatures.list[S].inputs)>{})...};
};

template <class... Row>
array_view<const array_view<const registered_kernel>> rows_of(operations::family<Row...>) {
  static constexpr array_view<const registered_kernel> rows[] = {{registered_row<Row>::list}...};
  return rows;
}

}  // namespace detail

template <class Family>
array_view<const array_view<const registered_kernel>> registered<Family>::kernels() {
  return detail::rows_of(Family{});
}

}  // namespace tagma::device::cpu
