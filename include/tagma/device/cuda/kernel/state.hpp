// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of variables on the GPU. Input 0 is the variable itself.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/sparse_rows.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/state.hpp"

namespace tagma::device {
namespace cuda::detail {

inline void assign(const kernel_args& args, const run_context& context) {
  copy_on_device(args.out.data, args.in[1].data, args.out.bytes(), context);
}

/// An initial value, worked out on the host when the kernel is prepared.
struct initial_state final : kernel_state {
  explicit initial_state(std::size_t size) : bytes(size) {}
  pinned_bytes bytes;
};

inline owned<kernel_state> prepare_initialize(const kernel_args& args, const run_context& context) {
  auto state = make_owned<initial_state>(args.out.bytes());
  write_initial_value(state->bytes.data(), args, context);
  return state;
}

inline void initialize(const kernel_args& args, const run_context& context) {
  const std::byte* from = static_cast<const initial_state*>(args.state)->bytes.data();
  const std::size_t bytes = args.out.bytes();
  if (bytes == 0) return;
  if (emulates())
    std::memcpy(args.out.data, from, bytes);
  else
    check(cudaMemcpyAsync(args.out.data, from, bytes, cudaMemcpyHostToDevice, stream_of(context)), "cudaMemcpyAsync");
}

template <class T, bool Add>
struct accumulate_body {
  struct arguments {
    T* to;
    const T* from;
    std::int64_t count;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    using C = compute_t<T>;
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const C x = widen(a.to[i]), y = widen(a.from[i]);
      a.to[i] = narrow<T>(static_cast<C>(Add ? x + y : x - y));
    }
  }
};

template <class T, bool Add>
void accumulate(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.out.elements();
  if (n == 0) return;
  launch<accumulate_body<T, Add>>(geometry::over(n), context, {args.out.as<T>(), args.in[1].as<const T>(), n});
}

/// Adds sorted rows to the rows that they go to. The table is [outer, table, inner], the rows are [outer, rows, inner].
template <class T>
struct add_rows_body {
  struct arguments {
    T* table;
    row_parts parts;
    sorted_rows sorted;
    std::int64_t outer, inner;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const std::int64_t each = a.sorted.count * a.inner;
    for (std::int64_t i = at.index(); i < a.outer * each; i += at.count()) {
      const std::int64_t o = quotient(i, each), position = quotient(i - o * each, a.inner);
      if (!a.sorted.begins(position)) continue;
      const std::int64_t e = i - o * each - position * a.inner;
      T& to = a.table[(o * a.sorted.table + a.sorted.to[position]) * a.inner + e];
      to = narrow<T>(a.sorted.template add_from<T>(position, a.parts, a.inner, o * each + e, widen(to)));
    }
  }
};

inline owned<kernel_state> prepare_scatter_add(const kernel_args& args, const run_context& context) {
  reserve_sort(args.in[1].elements(), args.out.dims[0], context);
  return nullptr;
}

template <class T>
void scatter_add(const kernel_args& args, const run_context& context) {
  const shape& dims = args.out.dims;
  const std::int64_t width = dims.elements(1, dims.rank);
  if (args.in[2].elements() == 0) return;
  row_parts parts;
  parts.add(args.in[2], args.in[1]);
  const sorted_rows sorted = sort_rows(parts, dims[0], args, context);
  launch<add_rows_body<T>>(geometry::over(sorted.count * width), context, {args.out.as<T>(), parts, sorted, 1, width});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::assign>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::assign};
};
template <>
struct kernel<on_cuda, ir::key<op::initialize>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::initialize, &cuda::detail::prepare_initialize};
};
template <>
struct kernel<on_cuda, ir::key<op::assign_add>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::accumulate<stored<Out>, true>};
};
template <>
struct kernel<on_cuda, ir::key<op::assign_sub>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::accumulate<stored<Out>, false>};
};
template <>
struct kernel<on_cuda, ir::key<op::scatter_add>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{
      .run = &cuda::detail::scatter_add<stored<Out>>, .prepare = &cuda::detail::prepare_scatter_add, .reads_run = true};
};

}  // namespace tagma::device
