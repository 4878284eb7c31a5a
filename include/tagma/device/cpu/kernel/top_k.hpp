// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The largest elements of each row on the CPU: a heap of the positions of the best so far, kept in the result itself;
/// short rows are sorted.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/indices.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/short_rows.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/top_k.hpp"

namespace tagma::device {
namespace cpu::detail {

/// True of elements that are ordered as integers, since to widen one by itself takes long.
template <class T>
inline constexpr bool is_ordered_by_bits = !same<T, compute_t<T>>;

/// Integers in the order of 16-bit floats of which they are the bits: zeros are equal, and every NaN is the greatest.
template <class T>
struct order_of_bits {
  static constexpr std::int16_t magnitude = 0x7fff, infinity = same<T, float16> ? 0x7c00 : 0x7f80;
  TAGMA_INLINE static int of(const T& x) {
    const int m = x.bits & magnitude;
    return m > infinity ? magnitude : x.bits > magnitude ? -m : m;
  }
  template <class P>
  TAGMA_INLINE static P of(const P& bits) {
    const P m = bits & magnitude, sign = bits >> 15;
    return select(m > infinity, splat<P>(magnitude), (m ^ sign) - sign);
  }
};

/// True if the element at `a` comes before the one at `b`.
template <class T>
[[nodiscard]] bool comes_before(const T* row, std::int64_t a, std::int64_t b) {
  if constexpr (is_ordered_by_bits<T>) {
    const int p = order_of_bits<T>::of(row[a]), q = order_of_bits<T>::of(row[b]);
    return p > q || (p == q && a < b);
  }
  const auto x = static_cast<compute_t<T>>(row[a]), y = static_cast<compute_t<T>>(row[b]);
  if (x > y || (x != x && y == y)) return true;
  if (x < y || (x == x && y != y)) return false;
  return a < b;
}

/// Moves the head of a heap, whose head comes last of all, to its place.
template <class T>
void sift_down(const T* row, std::int64_t* heap, std::int64_t size) {
  const std::int64_t moving = heap[0];
  std::int64_t i = 0;
  for (std::int64_t child = 1; child < size; child = 2 * i + 1) {
    if (child + 1 < size && comes_before(row, heap[child], heap[child + 1])) ++child;
    if (!comes_before(row, moving, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = moving;
}

/// What `best_of_row` does with the elements behind the first ones, of which it passes by sixteen at a time.
template <class T>
struct best_by_bits {
  TAGMA_INLINE static void run(const T* row, std::int64_t n, std::int64_t* heap, std::int64_t k) {
    using P = pack<std::int16_t, 16>;
    int last = order_of_bits<T>::of(row[heap[0]]);
    for (std::int64_t i = k; i < n;) {
      std::int64_t end = i + P::width < n ? i + P::width : n;
      if (end - i == P::width) {
        const P some = load<P::width>(reinterpret_cast<const std::int16_t*>(row + i));
        if (!any(order_of_bits<T>::of(some) > static_cast<std::int16_t>(last))) i = end;
      }
      for (; i < end; ++i) {
        if (order_of_bits<T>::of(row[i]) <= last) continue;
        heap[0] = i;
        sift_down(row, heap, k);
        last = order_of_bits<T>::of(row[heap[0]]);
      }
    }
  }
};

template <class T>
void best_of_row(const T* row, std::int64_t n, std::int64_t* heap, std::int64_t k) {
  for (std::int64_t i = 0; i < k; ++i) {
    std::int64_t at = i;
    for (; at > 0 && comes_before(row, heap[(at - 1) / 2], i); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = i;
  }
  if constexpr (is_ordered_by_bits<T>) {
    if (k > 0) dispatch<best_by_bits<T>>(row, n, heap, k);
  } else {
    for (std::int64_t i = k; i < n; ++i) {
      if (!comes_before(row, i, heap[0])) continue;
      heap[0] = i;
      sift_down(row, heap, k);
    }
  }
  for (std::int64_t size = k; size-- > 1;) {
    const std::int64_t last = heap[0];
    heap[0] = heap[size];
    heap[size] = last;
    sift_down(row, heap, size);
  }
}

/// Positions that nobody reads have a place of their own.
inline owned<kernel_state> prepare_top_k(const kernel_args& args, const run_context&) {
  if (args.outs[1].data != nullptr) return nullptr;
  return make_owned<scratch<std::int64_t>>(bounded_product(row_extents(args.in[0].dims).rows, args.attributes[0]));
}

template <class T>
void top_k(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims);
  const std::int64_t rows = in.rows, n = in.n, k = args.attributes[0];
  T* const values = args.outs[0].as<T>();
  std::int64_t* const positions = args.outs[1].data != nullptr
                                      ? args.outs[1].as<std::int64_t>()
                                      : static_cast<scratch<std::int64_t>*>(args.state)->data();
  over_pieces(rows, 4 * n * static_cast<std::int64_t>(sizeof(T)), context, [&](std::int64_t first, std::int64_t last) {
    const T* const from = args.in[0].as<const T>();
    if (n <= few_to_order)
      dispatch<order_of_short_rows<T>>(from + first * n, last - first, n, static_cast<word_of<T>>(~word_of<T>{0}), k,
                                       positions + first * k);
    for (std::int64_t r = first; r < last; ++r) {
      const T* const row = from + r * n;
      std::int64_t* const best = positions + r * k;
      if (n > few_to_order) best_of_row(row, n, best, k);
      for (std::int64_t i = 0; i < k && values != nullptr; ++i) values[r * k + i] = row[best[i]];
    }
  });
}

/// Runs `some(first, last)` over rows of `n` positions in an axis of `size` elements, each time when all of these have
/// been looked at, while they are in the cache. The first one that is none is told, whatever threads share the rows.
template <class Some>
void over_positions(const std::int64_t* position, std::int64_t rows, std::int64_t n, extent size,
                    const run_context& context, const Some& some) {
  atomic<bool> wrong{false};
  over_pieces(rows, 16 * n, context, [&](std::int64_t first, std::int64_t last) {
    if (are_indices(position + first * n, (last - first) * n, size))
      some(first, last);
    else
      wrong.store(true, memory_order::relaxed);
  });
  if (wrong.load(memory_order::relaxed)) check_indices(position, rows * n, size);
}

template <class T>
void gather_last(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims), out(args.out.dims);
  const auto* const position = args.in[1].as<const std::int64_t>();
  const T* const from = args.in[0].as<const T>();
  T* const to = args.out.as<T>();
  over_positions(position, out.rows, out.n, in.n, context, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      for (std::int64_t i = r * out.n; i < (r + 1) * out.n; ++i) to[i] = from[r * in.n + position[i]];
  });
}

template <class T>
void scatter_last(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims), out(args.out.dims);
  const auto* const position = args.in[1].as<const std::int64_t>();
  const T* const from = args.in[0].as<const T>();
  T* const to = args.out.as<T>();
  over_positions(position, in.rows, in.n, out.n, context, [=](std::int64_t first, std::int64_t last) {
    if (out.n > 0 && last > first)  // else there may be no address
      std::memset(static_cast<void*>(to + first * out.n), 0,
                  static_cast<std::size_t>((last - first) * out.n) * sizeof(T));
    for (std::int64_t r = first; r < last; ++r)
      for (std::int64_t i = r * in.n; i < (r + 1) * in.n; ++i) {
        T& sum = to[r * out.n + position[i]];
        sum = T(static_cast<compute_t<T>>(sum) + static_cast<compute_t<T>>(from[i]));
      }
  });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::top_k>> {
  template <dtype Value, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::top_k<stored<Value>>, &cpu::detail::prepare_top_k};
};
template <>
struct kernel<on_cpu, ir::key<op::gather_last>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::gather_last<stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::scatter_last>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::scatter_last<stored<Out>>};
};

}  // namespace tagma::device
