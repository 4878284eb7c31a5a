// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations of recurrent cells on the CPU: all gates of eight or sixteen units at a time.

#include "tagma/base/config.hpp"
#include "tagma/device/cells.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"

namespace tagma::device {
namespace cpu::detail {

template <class Op, class T, int W>
struct cell_rows_of {
  using call = cell_call<Op, T>;
  using P = pack<compute_t<T>, W>;

  TAGMA_INLINE static void run(const call* c, std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      one_row(*c, row, std::make_index_sequence<call::ins>{}, std::make_index_sequence<call::outs>{});
  }

 private:
  /// What remains of the last pack goes through padded copies, so that there is one copy of the formulas.
  template <std::size_t... I, std::size_t... O>
  TAGMA_INLINE static void one_row(const call& c, std::int64_t row, std::index_sequence<I...>,
                                   std::index_sequence<O...>) {
    const T* in[call::ins];
    T *out[call::outs], *to[call::outs];
    ((in[I] = c.in[I].first == nullptr ? nullptr : c.in[I].first + row * c.in[I].step), ...);
    ((to[O] = out[O] = c.out[O].first == nullptr ? nullptr : c.out[O].first + row * c.out[O].step), ...);
    T padded[call::ins + call::outs][static_cast<unsigned>(W)];
    const std::int64_t rest = c.units % W, whole = c.units - rest;
    for (std::int64_t count = whole;; count = W) {
      for (std::int64_t i = 0; i < count; i += W) {
        P v[call::ins], r[call::outs];
        ((v[I] = in[I] == nullptr ? P{} : load<W>(in[I] + i)), ...);
        cell_rule<Op>::apply(v, r);
        ((to[O] == nullptr ? void() : store(to[O] + i, r[O])), ...);
      }
      if (rest == 0) return;
      if (in[0] == padded[0]) break;
      ((in[I] = in[I] == nullptr ? nullptr : pad(padded[I], in[I] + whole, rest)), ...);
      ((to[O] = to[O] == nullptr ? nullptr : padded[call::ins + O]), ...);
    }
    ((out[O] == nullptr ? void() : copy(out[O] + whole, to[O], rest)), ...);
  }
  TAGMA_INLINE static void copy(T* to, const T* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
  /// The last elements of a row, followed by zeros.
  TAGMA_INLINE static const T* pad(T* to, const T* from, std::int64_t n) {
    for (std::int64_t i = 0; i < W; ++i) to[i] = i < n ? from[i] : T{};
    return to;
  }
};
template <class Op, class T>
using cell_rows =
    with_wide<cell_rows_of<Op, T, default_width>, cell_rows_of<Op, T, wide_width>, sizeof(compute_t<T>) == 4>;

template <class Op, class T>
void run_cell(const kernel_args& args, const run_context& context) {
  const cell_call<Op, T> call(args);
  // Four times, since most of it is arithmetic.
  const std::int64_t bytes = static_cast<std::int64_t>((call.ins + call.outs) * sizeof(T)) * 4 * call.units;
  over_pieces(call.rows, bytes, context,
              [&](std::int64_t first, std::int64_t last) { dispatch<cell_rows<Op, T>>(&call, first, last); });
}

template <class Op>
struct cell_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&run_cell<Op, stored<Out>>};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::lstm_gates>> : cpu::detail::cell_kernel<op::lstm_gates> {};
template <>
struct kernel<on_cpu, ir::key<op::lstm_gates_gradient>> : cpu::detail::cell_kernel<op::lstm_gates_gradient> {};
template <>
struct kernel<on_cpu, ir::key<op::gru_gates>> : cpu::detail::cell_kernel<op::gru_gates> {};
template <>
struct kernel<on_cpu, ir::key<op::gru_gates_gradient>> : cpu::detail::cell_kernel<op::gru_gates_gradient> {};
template <>
struct kernel<on_cpu, ir::key<op::gru_output>> : cpu::detail::cell_kernel<op::gru_output> {};
template <>
struct kernel<on_cpu, ir::key<op::gru_output_gradient>> : cpu::detail::cell_kernel<op::gru_output_gradient> {};

}  // namespace tagma::device
