// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Gather, its gradient and one_hot on the GPU.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/expr/op/gather.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Rows without a source are zero.
template <class Word>
struct gather_body {
  struct arguments {
    const Word* from;
    Word* to;
    const std::byte* indices;
    dtype type;
    std::int64_t outer, rows, count, inner;
    run_parameters* run;
    std::int32_t source;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.outer * a.count * a.inner; i += at.count()) {
      const std::int64_t row = quotient(i, a.inner), o = quotient(row, a.count), k = row - o * a.count;
      const std::int64_t inner = i - row * a.inner, index = index_at(a.indices, a.type, k);
      const bool good = index >= 0 && index < a.rows;
      if (!good && o == 0 && inner == 0) report_index(a.run, a.source, k);
      a.to[i] = good ? a.from[(o * a.rows + index) * a.inner + inner] : Word{};
    }
  }
};

inline void gather(const kernel_args& args, const run_context& context) {
  const op::around_axis from(args.in[0].dims, args.attributes[0]);
  const std::int64_t count = args.in[1].elements();
  if (args.out.elements() == 0) return;
  const std::size_t size = size_of(args.out.type), row = static_cast<std::size_t>(from.inner) * size;
  const std::size_t bytes = common_word(row | reinterpret_cast<std::uintptr_t>(args.in[0].data) |
                                        reinterpret_cast<std::uintptr_t>(args.out.data));
  with_word(bytes, [&](auto zero) {
    using element = decltype(zero);
    const auto inner = static_cast<std::int64_t>(row / sizeof(element));
    launch<gather_body<element>>(
        geometry::over(from.outer * count * inner), context,
        {args.in[0].as<const element>(), args.out.as<element>(), args.in[1].data, args.in[1].type, from.outer,
         from.count, count, inner, resources_of(context).parameters(), args.source});
  });
}

inline owned<kernel_state> prepare_scatter_rows(const kernel_args& args, const run_context& context) {
  reserve_sort(args.in[1].elements(), op::around_axis(args.out.dims, args.attributes[0]).count, context);
  return nullptr;
}

template <class T>
void scatter_rows(const kernel_args& args, const run_context& context) {
  const op::around_axis to(args.out.dims, args.attributes[0]);
  clear_on_device(args.out, context);
  row_parts parts;
  parts.add(args.in[0], args.in[1]);
  if (args.in[0].elements() == 0) return;
  const sorted_rows sorted = sort_rows(parts, to.count, args, context);
  launch<add_rows_body<T>>(geometry::over(to.outer * sorted.count * to.inner), context,
                           {args.out.as<T>(), parts, sorted, to.outer, to.inner});
}

template <class T>
struct one_hot_body {
  struct arguments {
    T* to;
    const std::byte* indices;
    dtype type;
    std::int64_t count, depth;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count * a.depth; i += at.count()) {
      const std::int64_t row = quotient(i, a.depth);
      a.to[i] = narrow<T>(compute_t<T>(index_at(a.indices, a.type, row) == i - row * a.depth ? 1 : 0));
    }
  }
};

template <class T>
void one_hot(const kernel_args& args, const run_context& context) {
  if (args.out.elements() == 0) return;
  launch<one_hot_body<T>>(
      geometry::over(args.out.elements()), context,
      {args.out.as<T>(), args.in[0].data, args.in[0].type, args.in[0].elements(), args.attributes[0]});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::gather>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::gather, .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::scatter_rows>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::scatter_rows<stored<Out>>,
                                      .prepare = &cuda::detail::prepare_scatter_rows,
                                      .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::one_hot>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::one_hot<stored<Out>>};
};

}  // namespace tagma::device
