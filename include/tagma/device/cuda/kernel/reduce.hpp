// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reductions on the GPU. The order in which elements are joined follows from the extents alone, without atomics, so
/// that equal inputs give equal bytes in every run.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/reduce_axes.hpp"
#include "tagma/expr/op/reduce.hpp"

namespace tagma::device {
namespace cuda::detail {

/// How two values join, and what joins with nothing. `load` makes a value of an element at position `r` among those
/// that are joined.
template <class C>
struct join_numbers {
  static constexpr bool of_nothing = true;  ///< something comes of no elements
  using value = C;
  TAGMA_DEVICE static value load(C x, std::int64_t) { return x; }
  TAGMA_DEVICE static C result(value v) { return v; }
};
template <class C>
struct join_sum : join_numbers<C> {
  TAGMA_DEVICE static C neutral() { return C(0); }
  TAGMA_DEVICE static C join(C a, C b) { return static_cast<C>(a + b); }
};
template <class C>
struct join_product : join_numbers<C> {
  TAGMA_DEVICE static C neutral() { return C(1); }
  TAGMA_DEVICE static C join(C a, C b) { return static_cast<C>(a * b); }
};
template <class C>
struct join_max : join_numbers<C> {
  TAGMA_DEVICE static C neutral() { return lowest<C>(); }
  TAGMA_DEVICE static C join(C a, C b) { return max(a, b); }
};
template <class C>
struct join_min : join_numbers<C> {
  TAGMA_DEVICE static C neutral() { return highest<C>(); }
  TAGMA_DEVICE static C join(C a, C b) { return min(a, b); }
};
struct join_all : join_numbers<bool> {
  TAGMA_DEVICE static bool neutral() { return true; }
  TAGMA_DEVICE static bool join(bool a, bool b) { return a && b; }
};
struct join_any : join_numbers<bool> {
  TAGMA_DEVICE static bool neutral() { return false; }
  TAGMA_DEVICE static bool join(bool a, bool b) { return a || b; }
};

/// An element and its position; no element has position -1.
template <class C>
struct candidate {
  C number;
  std::int64_t position;
};
/// The first of the largest or smallest elements. NaN is beyond all numbers.
template <class C, bool Largest>
struct join_positions {
  static constexpr bool of_nothing = false;
  using value = candidate<C>;
  TAGMA_DEVICE static value neutral() { return {C(0), -1}; }
  TAGMA_DEVICE static value load(C x, std::int64_t r) { return {x, r}; }
  TAGMA_DEVICE static value load(const value& v, std::int64_t) { return v; }
  TAGMA_DEVICE static value join(const value& a, const value& b) {
    if (a.position < 0) return b;
    if (b.position < 0) return a;
    const bool a_is_nan = a.number != a.number, b_is_nan = b.number != b.number;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (Largest ? a.number > b.number : a.number < b.number) return a;
    if (Largest ? b.number > a.number : b.number < a.number) return b;
    return a.position < b.position ? a : b;
  }
  TAGMA_DEVICE static std::int64_t result(const value& v) { return v.position; }
};

/// Joins elements of type From. A block has several lanes for each of several results; what the lanes have joined, it
/// joins in a tree.
template <class Join, class From, class To>
struct reduce_body {
  using value = typename Join::value;
  struct arguments {
    const From* from;
    To* to;
    reduction_plan plan;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const reduction_plan& p = a.plan;
    auto* values = reinterpret_cast<value*>(at.shared);
    const int columns = at.threads / p.lanes;
    const int lane = p.lanes_are_neighbours ? at.thread % p.lanes : at.thread / columns;
    const int column = p.lanes_are_neighbours ? at.thread / p.lanes : at.thread % columns;
    const int step = p.lanes_are_neighbours ? 1 : columns;  // from a lane to the next, in threads
    const std::int64_t tiles = pieces(p.results, columns);
    for (std::int64_t b = at.block; b < tiles * p.splits; b += at.blocks) {
      const std::int64_t split = quotient(b, tiles), result = (b - split * tiles) * columns + column;
      value total = Join::neutral();
      if (result < p.results) {
        const From* from = a.from + p.kept.offset(result);
        const std::int64_t first = split * p.per_split, rest = p.joined - first;
        const std::int64_t last = first + (rest < p.per_split ? rest : p.per_split);
        for (std::int64_t r = first + lane; r < last; r += p.lanes)
          total = Join::join(total, Join::load(widen(from[p.reduced.offset(r)]), r));
      }
      values[at.thread] = total;
      for (int half = p.lanes / 2; half > 0; half /= 2) {
        at.wait();
        if (lane < half) values[at.thread] = Join::join(values[at.thread], values[at.thread + half * step]);
      }
      if (lane == 0 && result < p.results) {
        if constexpr (std::is_same_v<To, value>)
          a.to[split * p.results + result] = values[at.thread];
        else
          a.to[split * p.results + result] = narrow<To>(Join::result(values[at.thread]));
      }
      at.wait();
    }
  }
};

template <class Join, class From, class To>
void launch_reduction(const From* from, To* to, const reduction_plan& p, const run_context& context) {
  using body = reduce_body<Join, From, To>;
  launch<body>(geometry::blocks_for(pieces(p.results, block_threads / p.lanes) * p.splits,
                                    block_threads * sizeof(typename Join::value)),
               context, {from, to, p});
}

/// Joins elements, in two passes where there are few results of many.
template <class Join, class T, class To>
void reduce(const T* from, To* to, const reduction_plan& p, const run_context& context) {
  using value = typename Join::value;
  if (p.results == 0) return;
  if (p.splits == 1) return launch_reduction<Join>(from, to, p, context);
  auto* parts = reinterpret_cast<value*>(resources_of(context).workspace());
  launch_reduction<Join>(from, parts, p, context);
  launch_reduction<Join>(static_cast<const value*>(parts), to, reduction_plan::of_parts(p.splits, p.results), context);
}

/// Bytes that `reduce` needs in between.
template <class Join>
[[nodiscard]] std::size_t reduction_bytes(const reduction_plan& p) {
  return p.splits == 1 ? 0 : static_cast<std::size_t>(p.splits * p.results) * sizeof(typename Join::value);
}

[[nodiscard]] inline reduction_plan plan_of(const kernel_args& args) {
  return reduction_plan(axes_of(args.in[0].dims, static_cast<std::uint64_t>(args.attributes[0])));
}

template <class Join, class T, class To>
struct reduction_kernel {
  static owned<kernel_state> prepare(const kernel_args& args, const run_context& context) {
    const reduction_plan p = plan_of(args);
    if constexpr (!Join::of_nothing)
      if (p.joined == 0 && p.results > 0) fail(status_code::invalid_argument, "there is no extreme of no elements");
    return reserve_workspace(context, reduction_bytes<Join>(p));
  }
  static void run(const kernel_args& args, const run_context& context) {
    reduce<Join>(args.in[0].as<const T>(), args.out.as<To>(), plan_of(args), context);
  }
  static constexpr kernel_entry entry{&run, &prepare};
};

/// Writes a number that the host knows.
template <class T>
struct fill_body {
  struct arguments {
    T* to;
    std::int64_t count;
    T value;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) a.to[i] = a.value;
  }
};

template <class T>
void fraction(const kernel_args& args, const run_context& context) {
  const extent count = op::fraction::elements(args.in[0].dims, args.attributes[0]);
  launch<fill_body<T>>({1, 1, 0}, context,
                       {args.out.as<T>(), 1, narrow<T>(static_cast<compute_t<T>>(1.0 / static_cast<double>(count)))});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::sum>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_sum<compute_t<stored<Out>>>, stored<Out>, stored<Out>>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::product>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_product<compute_t<stored<Out>>>, stored<Out>,
                                     stored<Out>>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::reduce_max>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_max<compute_t<stored<Out>>>, stored<Out>, stored<Out>>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::reduce_min>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_min<compute_t<stored<Out>>>, stored<Out>, stored<Out>>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::fraction>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::fraction<stored<Out>>};
};
template <>
struct kernel<on_cuda, ir::key<op::all>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry = cuda::detail::reduction_kernel<cuda::detail::join_all, bool, bool>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::any>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry = cuda::detail::reduction_kernel<cuda::detail::join_any, bool, bool>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::argmax>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_positions<compute_t<stored<In>>, true>, stored<In>,
                                     std::int64_t>::entry;
};
template <>
struct kernel<on_cuda, ir::key<op::argmin>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry =
      cuda::detail::reduction_kernel<cuda::detail::join_positions<compute_t<stored<In>>, false>, stored<In>,
                                     std::int64_t>::entry;
};

}  // namespace tagma::device
