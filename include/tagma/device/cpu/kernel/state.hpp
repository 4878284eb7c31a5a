// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of variables on the CPU. Input 0 is the variable itself.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/indices.hpp"
#include "tagma/device/cpu/initial_numbers.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/state.hpp"

namespace tagma::device {
namespace cpu::detail {

void assign(const kernel_args& args, const run_context&);

void initialize(const kernel_args& args, const run_context& context);

/// `to` += or -= `from`; `To` may be wider than the elements.
template <class T, bool Add, class To = T>
struct accumulate_body {
  TAGMA_INLINE static void run(To* to, const T* from, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
      store(to + i, Add ? load<8>(to + i) + load<8>(from + i) : load<8>(to + i) - load<8>(from + i));
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      const auto a = load<8>(to + i, rest), b = load<8>(from + i, rest);
      store(to + i, Add ? a + b : a - b, rest);
    }
  }
};

template <class T, bool Add>
void accumulate(const kernel_args& args, const run_context&) {
  dispatch<accumulate_body<T, Add>>(args.out.as<T>(), args.in[1].as<const T>(), args.out.elements());
}

template <class T, class Index>
void scatter_add(const kernel_args& args, const run_context&) {
  const shape& rows = args.out.dims;
  const std::int64_t width = rows.elements(1, rows.rank), count = args.in[1].elements();
  const Index* index = args.in[1].as<const Index>();
  check_indices(index, count, rows[0]);  // before the first write: a failing run leaves the variable as it was
  for (std::int64_t i = 0; i < count; ++i)
    dispatch<accumulate_body<T, true>>(args.out.as<T>() + static_cast<std::int64_t>(index[i]) * width,
                                       args.in[2].as<const T>() + i * width, width);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::assign>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::assign};
};
template <>
struct kernel<on_cpu, ir::key<op::initialize>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::initialize};
};
template <>
struct kernel<on_cpu, ir::key<op::assign_add>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::accumulate<stored<Out>, true>};
};
template <>
struct kernel<on_cpu, ir::key<op::assign_sub>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::accumulate<stored<Out>, false>};
};
template <>
struct kernel<on_cpu, ir::key<op::scatter_add>> {
  template <dtype Out, dtype, dtype Index, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::scatter_add<stored<Out>, stored<Index>>};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/state.ipp"
#endif
