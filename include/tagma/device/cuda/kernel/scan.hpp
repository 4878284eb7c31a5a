// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Running sums on the GPU. The order of additions follows from the extents alone, so that equal inputs give equal
/// bytes. cub::DeviceScan promises that for integers only: its blocks add what others have by then published.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/scan.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Lines of `count` elements, `inner` elements apart, and how they are divided: a few lines into parts, whose sums are
/// added up before the parts are run along.
struct scan_plan {
  static constexpr int items = 8;  ///< neighbours along a line that one thread takes at a time
  std::int64_t lines, count, inner;
  std::int64_t splits = 1;
  std::int64_t per_split;
  std::int32_t lanes = 1;  ///< threads that share a line; a power of two

  scan_plan(std::int64_t outer, std::int64_t along, std::int64_t apart)
      : lines(outer * apart), count(along), inner(apart), per_split(along) {
    const std::int64_t together = apart < 32 ? apart : 32;  // neighbouring lines, so that words come side by side
    while (lanes * items < count && block_threads / (2 * lanes) >= together) lanes *= 2;
    // Enough blocks to fill a large device, if threads have something left to do.
    constexpr std::int64_t enough_blocks = 256, least_tiles = 2;
    const std::int64_t tiles = pieces(lines, block_threads / lanes), tile = lanes * items;
    const std::int64_t wanted = tiles > 0 ? quotient(enough_blocks, tiles) : 1,
                       worth = quotient(count, least_tiles * tile);
    const std::int64_t parts = wanted < worth ? wanted : worth;
    if (parts <= 1) return;
    per_split = pieces(pieces(count, parts), tile) * tile;
    splits = pieces(count, per_split);
  }
  /// Of the sums of parts, which follow each other, line by line.
  [[nodiscard]] static scan_plan of_sums(const scan_plan& parts) {
    scan_plan p(1, parts.splits, parts.lines);
    p.splits = 1;
    p.per_split = parts.splits;
    return p;
  }
};

template <class T>
struct scan_body {
  using C = compute_t<T>;
  struct arguments {
    const T* from;
    T* to;            ///< nullptr: only `sums` are wanted
    C* sums;          ///< what each part of each line sums up to; nullptr: it is not wanted
    const C* before;  ///< what comes before each part of each line; nullptr: nothing
    scan_plan plan;
    bool exclusive, reverse;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const scan_plan& p = a.plan;
    auto* shared = reinterpret_cast<C*>(at.shared);
    const int columns = at.threads / p.lanes;
    const bool neighbours = p.inner == 1;  // lanes are, else lines
    const int lane = neighbours ? at.thread % p.lanes : at.thread / columns;
    const int column = neighbours ? at.thread / p.lanes : at.thread % columns;
    const int step = neighbours ? 1 : columns;  // from a lane to the next, in threads
    const std::int64_t tiles = pieces(p.lines, columns);
    for (std::int64_t b = at.block; b < tiles * p.splits; b += at.blocks) {
      const std::int64_t split = quotient(b, tiles), line = (b - split * tiles) * columns + column;
      const std::int64_t part = split * p.lines + line, first = split * p.per_split;
      const std::int64_t last = first + p.per_split < p.count ? first + p.per_split : p.count;
      const bool used = line < p.lines;
      const std::int64_t outer = quotient(line, p.inner), start = outer * (p.count - 1) * p.inner + line;
      C carry = used && a.before != nullptr ? a.before[part] : C(0);
      for (std::int64_t tile = first; tile < last; tile += p.lanes * scan_plan::items) {
        const std::int64_t begin = tile + lane * scan_plan::items;
        const std::int64_t rest = used ? last - begin : 0;
        const int n = rest < 0 ? 0 : rest < scan_plan::items ? static_cast<int>(rest) : scan_plan::items;
        const auto element = [&](int i) { return start + (a.reverse ? p.count - 1 - begin - i : begin + i) * p.inner; };
        C own = 0;
        for (int i = 0; i < n; ++i) own = add(own, widen(a.from[element(i)]));
        shared[at.thread] = own;
        for (int d = 1; d < p.lanes; d *= 2) {
          at.wait();
          const C left = lane >= d ? shared[at.thread - d * step] : C(0);
          at.wait();
          if (lane >= d) shared[at.thread] = add(left, shared[at.thread]);
        }
        at.wait();
        if (a.to != nullptr) {
          C total = lane > 0 ? add(carry, shared[at.thread - step]) : carry;
          for (int i = 0; i < n; ++i) {
            const C sum = add(total, widen(a.from[element(i)]));
            a.to[element(i)] = narrow<T>(a.exclusive ? total : sum);
            total = sum;
          }
        }
        carry = add(carry, shared[at.thread + (p.lanes - 1 - lane) * step]);
        at.wait();
      }
      if (used && lane == 0 && a.sums != nullptr) a.sums[part] = carry;
    }
  }

 private:
  TAGMA_DEVICE static C add(C a, C b) { return static_cast<C>(a + b); }
};

template <class T>
void launch_scan(const typename scan_body<T>::arguments& a, const run_context& context) {
  const scan_plan& p = a.plan;
  launch<scan_body<T>>(
      geometry::blocks_for(pieces(p.lines, block_threads / p.lanes) * p.splits, block_threads * sizeof(compute_t<T>)),
      context, a);
}

[[nodiscard]] inline scan_plan scan_plan_of(const kernel_args& args) {
  const op::around_axis at(args.out.dims, args.attributes[0]);
  return {at.outer, at.count, at.inner};
}

template <class T>
owned<kernel_state> prepare_cumulative_sum(const kernel_args& args, const run_context& context) {
  const scan_plan p = scan_plan_of(args);
  const std::int64_t sums = p.splits > 1 ? p.splits * p.lines : 0;
  return reserve_workspace(context, static_cast<std::size_t>(sums) * sizeof(compute_t<T>));
}

template <class T>
void cumulative_sum(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  if (args.out.elements() == 0) return;
  typename scan_body<T>::arguments a{
      args.in[0].as<const T>(), args.out.as<T>(),       nullptr, nullptr, scan_plan_of(args),
      args.attributes[1] != 0,  args.attributes[2] != 0};
  if (a.plan.splits > 1) {
    auto* const sums = reinterpret_cast<C*>(resources_of(context).workspace());
    auto of_parts = a;
    of_parts.to = nullptr;
    of_parts.sums = sums;
    launch_scan<T>(of_parts, context);
    launch_scan<C>({sums, sums, nullptr, nullptr, scan_plan::of_sums(a.plan), true, false}, context);
    a.before = sums;
  }
  launch_scan<T>(a, context);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::cumulative_sum>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::cumulative_sum<stored<Out>>,
                                      &cuda::detail::prepare_cumulative_sum<stored<Out>>};
};

}  // namespace tagma::device
