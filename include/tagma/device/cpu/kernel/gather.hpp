// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Gather, its gradient and one_hot on the CPU.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/expr/op/gather.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Elements of one word each at some positions.
template <class Word, class Index>
void pick(std::byte* to, const std::byte* from, const Index* index, std::int64_t count) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Word));
  const auto one = [=](std::int64_t i) {
    std::memcpy(to + i * size, from + static_cast<std::int64_t>(index[i]) * size, sizeof(Word));
  };
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) one(i), one(i + 1), one(i + 2), one(i + 3);  // one by one, the loop counts for as much
  for (; i < count; ++i) one(i);
}

/// Short rows at some positions.
/// @param rows from so many of them 16 bytes can be read
template <class Index>
void pick_rows(std::byte* to, const std::byte* from, std::int64_t rows, const Index* index, std::int64_t count,
               std::int64_t bytes) {
  for (std::int64_t rest = count * bytes; rest > 0; rest -= bytes, to += bytes, ++index) {
    const auto row = static_cast<std::int64_t>(*index);
    copy_short_row(to, from + row * bytes, bytes, rest >= 16 && row < rows);
  }
}

/// Asks for `bytes` that are soon read in no order, which processors do not foresee.
inline void ask_for(const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t line = 64, most = 16384;
  for (std::int64_t i = 0; i < bytes && i < most; i += line) __builtin_prefetch(from + i);
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
      if (bytes <= 8 && 32 * n >= from.count * bytes && outer + 1 < from.outer)
        ask_for(rows + from.count * bytes, from.count * bytes);
      switch (bytes) {
        case 1:
          pick<std::uint8_t>(to, rows, index + k, n);
          break;
        case 2:
          pick<std::uint16_t>(to, rows, index + k, n);
          break;
        case 4:
          pick<std::uint32_t>(to, rows, index + k, n);
          break;
        case 8:
          pick<std::uint64_t>(to, rows, index + k, n);
          break;
        default:
          if (bytes <= short_row_bytes) {
            pick_rows(to, rows, (from.outer - outer) * from.count - pieces(16, bytes) + 1, index + k, n, bytes);
            break;
          }
          for (std::int64_t r = 0; r < n; ++r)
            copy_bytes(to + r * bytes, rows + static_cast<std::int64_t>(index[k + r]) * bytes, bytes);
      }
    }
  });
}

/// Adds slices of `inner` elements to those of the rows from `first` to `last` that their indices name.
template <class T, class Index>
struct scatter_body {
  using C = compute_t<T>;
  TAGMA_INLINE static void run(C* rows, const T* from, const Index* index, std::int64_t count, std::int64_t inner,
                               std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < count; ++i, from += inner) {
      const auto row = static_cast<std::int64_t>(index[i]);
      if (row < first || row >= last) continue;
      C* const to = rows + row * inner;
      if (inner == 1)
        *to = static_cast<C>(*to + static_cast<C>(*from));
      else if (inner >= 8)
        accumulate_body<T, true, C>::run(to, from, inner);
      else
        for (std::int64_t k = 0; k < inner; ++k) to[k] = static_cast<C>(to[k] + static_cast<C>(from[k]));
    }
  }
};

template <class T, class Index>
void scatter_rows(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  const op::around_axis to(args.out.dims, args.attributes[0]);
  const std::int64_t count = args.in[1].elements();
  const Index* index = args.in[1].as<const Index>();
  check_indices(index, count, to.count);
  C* const sums = wide_result<T>(args);
  // A task owns a range of rows of the result, so that the order of additions does not depend on the threads.
  const auto some = [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    C* const rows = sums + o * to.count * to.inner;
    const std::int64_t begin = first * to.inner, size = (last - first) * to.inner;
    if (size == 0) return;
    std::memset(static_cast<void*>(rows + begin), 0, static_cast<std::size_t>(size) * sizeof(C));
    dispatch<scatter_body<T, Index>>(rows, args.in[0].as<const T>() + o * count * to.inner, index, count,
                                     std::int64_t{to.inner}, first, last);
    round_result<T>(args, o * to.count * to.inner + begin, size);
  };
  constexpr std::int64_t parts = 8, enough = std::int64_t{1} << 18;
  const bool shared = args.out.elements() + args.in[0].elements() >= enough;
  const auto part = [&](std::int64_t p) {
    if (to.outer >= parts || !shared)  // each index is looked at by one task
      for (std::int64_t o = p * to.outer / parts; o < (p + 1) * to.outer / parts; ++o) some(o, 0, to.count);
    else
      for (std::int64_t o = 0; o < to.outer; ++o) some(o, p * to.count / parts, (p + 1) * to.count / parts);
  };
  if (shared) return context.threads->parallel_for(parts, part);
  for (std::int64_t p = 0; p < parts; ++p) part(p);
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
