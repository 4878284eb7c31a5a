// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The largest elements of each row on the GPU. A few of many, as they are mostly asked for, are found by a block for
/// each row, one after the other: a row is read from the cache that often. For more of them the rows are sorted.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/order.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/top_k.hpp"

namespace tagma::device {
namespace cuda::detail {

/// An element and its position in the row; no element has position -1.
template <class C>
struct ranked {
  C number;
  std::int64_t position;

  /// NaN comes first, then larger numbers, then smaller positions; no element comes last.
  [[nodiscard]] TAGMA_DEVICE bool comes_before(const ranked& other) const {
    if (position < 0 || other.position < 0) return position >= 0;
    const bool nan = number != number, other_nan = other.number != other.number;
    if (nan != other_nan) return nan;
    if (!nan && number != other.number) return number > other.number;
    return position < other.position;
  }
};
template <class C>
struct first_of_two {
  TAGMA_DEVICE ranked<C> operator()(const ranked<C>& a, const ranked<C>& b) const { return b.comes_before(a) ? b : a; }
};

template <class T>
struct top_k_body {
  using C = compute_t<T>;
  struct arguments {
    const T* from;
    T* values;
    std::int64_t* positions;
    std::int64_t rows, n, k;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const row_threads threads{at, true};
    for (std::int64_t row = at.block; row < a.rows; row += at.blocks) {
      const T* x = a.from + row * a.n;
      ranked<C> last{C(0), -1};
      for (std::int64_t found = 0; found < a.k; ++found) {
        ranked<C> best{C(0), -1};
        for (std::int64_t i = at.thread; i < a.n; i += at.threads) {
          const ranked<C> next{widen(x[i]), i};
          if ((found == 0 || last.comes_before(next)) && next.comes_before(best)) best = next;
        }
        last = threads.join(best, first_of_two<C>());
        if (at.thread != 0) continue;
        if (a.values != nullptr) a.values[row * a.k + found] = x[last.position];
        if (a.positions != nullptr) a.positions[row * a.k + found] = last.position;
      }
    }
  }
};

/// True if `k` elements of each row are worth a sort of `count` elements.
[[nodiscard]] inline bool is_worth_a_sort(std::int64_t k, std::int64_t count) {
  constexpr std::int64_t few = 32;
  return k > few && can_be_sorted(count);
}

inline owned<kernel_state> prepare_top_k(const kernel_args& args, const run_context& context) {
  const std::int64_t count = args.in[0].elements();
  if (is_worth_a_sort(args.attributes[0], count)) ordered_positions::reserve(count, context);
  return nullptr;
}

/// The first `k` of each `n` ordered positions, and the elements there.
template <class T>
struct sorted_top_body {
  struct arguments {
    const std::uint32_t* order;
    const T* from;
    T* values;
    std::int64_t* positions;
    std::int64_t count, n, k;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const std::int64_t row = quotient(i, a.k), first = row * a.n, from = a.order[first + i - row * a.k];
      if (a.values != nullptr) a.values[i] = a.from[from];
      if (a.positions != nullptr) a.positions[i] = from - first;
    }
  }
};

template <class T>
void top_k(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims);
  const std::int64_t rows = in.rows, n = in.n, k = args.attributes[0];
  if (rows == 0 || k == 0) return;
  const T* const from = args.in[0].as<const T>();
  T* const values = args.outs[0].as<T>();
  auto* const positions = args.outs[1].as<std::int64_t>();
  if (is_worth_a_sort(k, rows * n)) {
    ordered_positions order(rows * n, context);
    sort_rows<T>(order, args.in[0], true);
    launch<sorted_top_body<T>>(geometry::over(rows * k), context,
                               {order.get(), from, values, positions, rows * k, n, k});
    return;
  }
  constexpr std::size_t shared = row_threads::of_block * sizeof(ranked<compute_t<T>>);
  launch<top_k_body<T>>(geometry::blocks_for(rows, shared), context, {from, values, positions, rows, n, k});
}

/// Positions of elements of rows. They may have been fed, whatever computes them otherwise.
struct row_positions {
  const std::int64_t* data;
  run_parameters* run;
  std::int32_t source;

  row_positions(const kernel_args& args, const run_context& context)
      : data(args.in[1].as<const std::int64_t>()), run(resources_of(context).parameters()), source(args.source) {}

  /// Position `i`, or -1 and a report if it is not within a row of `n` elements.
  [[nodiscard]] TAGMA_DEVICE std::int64_t checked(std::int64_t i, std::int64_t n) const {
    const std::int64_t at = data[i];
    if (at >= 0 && at < n) return at;
    report_index(run, source, i);
    return -1;
  }
};

/// Between rows of `n` elements and `k` of them each. Positions outside of their row are reported; nothing is read or
/// written there.
template <class T, bool Gather>
struct chosen_body {
  struct arguments {
    const T* from;
    T* to;
    row_positions position;
    std::int64_t count, n, k;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const std::int64_t row = quotient(i, Gather ? a.k : a.n);
      if constexpr (Gather) {
        const std::int64_t from = a.position.checked(i, a.n);
        a.to[i] = from < 0 ? T{} : a.from[row * a.n + from];
      } else {
        compute_t<T> total = 0;
        for (std::int64_t j = row * a.k; j < (row + 1) * a.k; ++j)
          if (a.position.checked(j, a.n) == i - row * a.n) total = static_cast<compute_t<T>>(total + widen(a.from[j]));
        a.to[i] = narrow<T>(total);
      }
    }
  }
};

/// Gathers from whole rows, or adds to them.
template <class T, bool Gather>
void chosen(const kernel_args& args, const run_context& context) {
  const shape &whole = (Gather ? args.in[0] : args.out).dims, &part = (Gather ? args.out : args.in[0]).dims;
  const std::int64_t count = args.out.elements();
  if (count == 0) return;
  launch<chosen_body<T, Gather>>(geometry::over(count), context,
                                 {args.in[0].as<const T>(), args.out.as<T>(), row_positions(args, context), count,
                                  whole[whole.rank - 1], part[part.rank - 1]});
}

/// Where elements go, counted in the whole result of `count` elements; what has no place goes behind all others.
struct place_keys {
  row_positions position;
  std::int64_t count, n, k;
  TAGMA_DEVICE std::uint32_t key(std::uint32_t i) const {
    const std::int64_t to = position.checked(i, n);
    return static_cast<std::uint32_t>(to < 0 ? count : quotient(i, k) * n + to);
  }
};

/// True if elements are sorted by where they go before they are added.
[[nodiscard]] inline bool sorts_places(const kernel_args& args) {
  const shape& dims = args.in[0].dims;
  return can_be_sorted(args.out.elements() + 1) && is_worth_a_sort(dims[dims.rank - 1], args.in[0].elements());
}

inline owned<kernel_state> prepare_scatter_last(const kernel_args& args, const run_context& context) {
  if (sorts_places(args)) ordered_positions::reserve(args.in[0].elements(), context);
  return nullptr;
}

template <class T>
void scatter_last(const kernel_args& args, const run_context& context) {
  const shape &whole = args.out.dims, &part = args.in[0].dims;
  const std::int64_t count = args.out.elements(), n = whole[whole.rank - 1], k = part[part.rank - 1];
  if (!sorts_places(args)) return chosen<T, false>(args, context);
  if (count == 0) return;
  clear_on_device(args.out, context);
  row_parts parts;
  parts.add(args.in[0], args.in[1]);
  ordered_positions order(parts.total(), context);
  order.sort_by(place_keys{row_positions(args, context), count, n, k}, significant_bits(count));
  launch<add_rows_body<T>>(geometry::over(parts.total()), context,
                           {args.out.as<T>(), parts, {order.keys(), order.get(), parts.total(), count}, 1, 1});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::top_k>> {
  template <dtype Value, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::top_k<stored<Value>>, &cuda::detail::prepare_top_k};
};
template <>
struct kernel<on_cuda, ir::key<op::gather_last>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::chosen<stored<Out>, true>, .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::scatter_last>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::scatter_last<stored<Out>>,
                                      .prepare = &cuda::detail::prepare_scatter_last,
                                      .reads_run = true};
};

}  // namespace tagma::device
