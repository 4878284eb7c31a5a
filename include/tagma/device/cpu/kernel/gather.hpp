// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Gather, its gradient and one_hot on the CPU.

#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/expr/op/gather.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Elements of one word each at some positions.
template <class Word, class Index>
void pick(std::byte* to, const std::byte* from, const Index* index, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, to += sizeof(Word))
    std::memcpy(to, from + static_cast<std::int64_t>(index[i]) * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
}

template <class Index>
void gather(const kernel_args& args, const run_context& context) {
  const op::around_axis from(args.in[0].dims, args.attributes[0]);
  const std::int64_t count = args.in[1].elements();
  const std::int64_t bytes = from.inner * static_cast<std::int64_t>(size_of(args.out.type));
  const Index* index = args.in[1].as<const Index>();
  check_indices(index, count, from.count);
  if (args.out.elements() == 0) return;
  over_pieces(from.outer * count, bytes, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first, n = 0; i < last; i += n) {
      const std::int64_t outer = i / count, k = i - outer * count;
      n = count - k < last - i ? count - k : last - i;
      std::byte* const to = args.out.data + i * bytes;
      const std::byte* const rows = args.in[0].data + outer * from.count * bytes;
      if (bytes == 4)
        pick<std::uint32_t>(to, rows, index + k, n);
      else if (bytes == 8)
        pick<std::uint64_t>(to, rows, index + k, n);
      else
        for (std::int64_t r = 0; r < n; ++r)
          copy_bytes(to + r * bytes, rows + static_cast<std::int64_t>(index[k + r]) * bytes, bytes);
    }
  });
}

template <class T, class Index>
void scatter_rows(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  const op::around_axis to(args.out.dims, args.attributes[0]);
  const std::int64_t count = args.in[1].elements();
  const Index* index = args.in[1].as<const Index>();
  check_indices(index, count, to.count);
  C* const sums = wide_result<T>(args);
  // A task owns a range of rows of the result, so that the order of additions does not depend on the threads.
  const auto some = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t o = 0; o < to.outer; ++o) {
      C* rows = sums + o * to.count * to.inner;
      const std::int64_t begin = first * to.inner, size = (last - first) * to.inner;
      if (size == 0) continue;
      std::memset(static_cast<void*>(rows + begin), 0, static_cast<std::size_t>(size) * sizeof(C));
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = static_cast<std::int64_t>(index[i]);
        if (row < first || row >= last) continue;
        dispatch<accumulate_body<T, true, C>>(rows + row * to.inner,
                                              args.in[0].as<const T>() + (o * count + i) * to.inner, to.inner);
      }
      round_result<T>(args, o * to.count * to.inner + begin, size);
    }
  };
  constexpr std::int64_t parts = 8, enough = std::int64_t{1} << 18;
  if (to.count < parts || args.out.elements() + args.in[0].elements() < enough) return some(0, to.count);
  context.threads->parallel_for(parts, [&](std::int64_t p) { some(p * to.count / parts, (p + 1) * to.count / parts); });
}

template <class T, class Index>
void one_hot(const kernel_args& args, const run_context&) {
  fill_zero(args.out);
  const std::int64_t depth = args.attributes[0], count = args.in[0].elements();
  const Index* index = args.in[0].as<const Index>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(index[i]);
    if (at >= 0 && at < depth) args.out.as<T>()[i * depth + at] = T(1);
  }
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::gather>> {
  template <dtype, dtype, dtype Index, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::gather<stored<Index>>};
};
template <>
struct kernel<on_cpu, ir::key<op::scatter_rows>> {
  template <dtype Out, dtype, dtype Index, dtype...>
  static constexpr kernel_entry entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::scatter_rows<stored<Out>, stored<Index>>);
};
template <>
struct kernel<on_cpu, ir::key<op::one_hot>> {
  template <dtype Out, dtype Index, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::one_hot<stored<Out>, stored<Index>>};
};

}  // namespace tagma::device
