// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations of recurrent cells on the GPU: a thread for each unit of each row.

#include "tagma/base/config.hpp"
#include "tagma/device/cells.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"

namespace tagma::device {
namespace cuda::detail {

template <class Op, class T>
struct cell_body {
  using arguments = cell_call<Op, T>;
  using C = compute_t<T>;
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const std::int64_t count = a.rows * a.units;
    for (std::int64_t i = at.index(); i < count; i += at.count()) {
      const std::int64_t row = quotient(i, a.units), unit = i - row * a.units;
      C v[arguments::ins], r[arguments::outs];
      for (std::size_t k = 0; k != arguments::ins; ++k)
        v[k] = a.in[k].first == nullptr ? C(0) : widen(a.in[k].first[row * a.in[k].step + unit]);
      cell_rule<Op>::apply(static_cast<const C*>(v), static_cast<C*>(r));
      for (std::size_t k = 0; k != arguments::outs; ++k)
        if (a.out[k].first != nullptr) a.out[k].first[row * a.out[k].step + unit] = narrow<T>(r[k]);
    }
  }
};

template <class Op, class T>
void run_cell(const kernel_args& args, const run_context& context) {
  const cell_call<Op, T> call(args);
  if (call.rows > 0 && call.units > 0) launch<cell_body<Op, T>>(geometry::over(call.rows * call.units), context, call);
}

template <class Op>
struct cell_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&run_cell<Op, stored<Out>>};
};

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::lstm_gates>> : cuda::detail::cell_kernel<op::lstm_gates> {};
template <>
struct kernel<on_cuda, ir::key<op::lstm_gates_gradient>> : cuda::detail::cell_kernel<op::lstm_gates_gradient> {};
template <>
struct kernel<on_cuda, ir::key<op::gru_gates>> : cuda::detail::cell_kernel<op::gru_gates> {};
template <>
struct kernel<on_cuda, ir::key<op::gru_gates_gradient>> : cuda::detail::cell_kernel<op::gru_gates_gradient> {};
template <>
struct kernel<on_cuda, ir::key<op::gru_output>> : cuda::detail::cell_kernel<op::gru_output> {};
template <>
struct kernel<on_cuda, ir::key<op::gru_output_gradient>> : cuda::detail::cell_kernel<op::gru_output_gradient> {};

}  // namespace tagma::device
