// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The largest elements of each row on the CPU: a heap of the positions of the best so far, kept in the result itself;
/// short rows are sorted, and few elements of a long one kept in order.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/extremes.hpp"
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

/// The best `k` of a row, `most` at most, in a list that stays in order: what is inserted goes past those it comes
/// before.
template <class T>
struct few_best {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  static constexpr std::int64_t most = 16, at_once = 32, shortest = 4 * at_once, longest = 2048;

  TAGMA_INLINE static void run(const T* row, std::int64_t n, std::int64_t* best, std::int64_t k) {
    const auto least = splat<P>(bound(row, (n < longest ? n : longest) / at_once * at_once, k));
    std::int64_t size = 0;
    for (std::int64_t i = 0; i < n;) {
      std::int64_t end = i + at_once < n ? i + at_once : n;
      if (end - i == at_once) {
        const T* const some = row + i;
        const P a = load<8>(some), b = load<8>(some + 8), c = load<8>(some + 16), d = load<8>(some + 24);
        if (size < k) {
          if (all((a < least) & (b < least) & (c < least) & (d < least))) i = end;
        } else {
          const auto last = splat<P>(row[best[k - 1]]);
          if (!any(goes_beyond<true>(a, last) | goes_beyond<true>(b, last) | goes_beyond<true>(c, last) |
                   goes_beyond<true>(d, last)))
            i = end;
        }
      }
      for (; i < end; ++i) {
        if (size < k ? row[i] < lane(least, 0) : !comes_before(row, i, best[k - 1])) continue;
        std::int64_t at = size < k ? size++ : k - 1;
        for (; at > 0 && comes_before(row, i, best[at - 1]); --at) best[at] = best[at - 1];
        best[at] = i;
      }
    }
  }

 private:
  /// What `k` of the first elements reach: the largest of each lane are so many elements, whatever else there is.
  TAGMA_INLINE static C bound(const T* row, std::int64_t n, std::int64_t k) {
    P a = load<8>(row), b = load<8>(row + 8), c = load<8>(row + 16), d = load<8>(row + 24);
    if constexpr (floating<C>) {  // a NaN is passed over
      const P low = splat<P>(static_cast<C>(-__builtin_huge_val()));
      a = larger(a, low), b = larger(b, low), c = larger(c, low), d = larger(d, low);
    }
    for (std::int64_t i = at_once; i < n; i += at_once) {
      a = larger(load<8>(row + i), a), b = larger(load<8>(row + i + 8), b);
      c = larger(load<8>(row + i + 16), c), d = larger(load<8>(row + i + 24), d);
    }
    C largest[at_once];
    store(largest, a), store(largest + 8, b), store(largest + 16, c), store(largest + 24, d);
    using counts = pack<signed_of<C>, 8>;
    counts before_a = splat<counts>(0), before_b = before_a, before_c = before_a, before_d = before_a;
    for (const C& one : largest) {  // -1 for true
      const P x = splat<P>(one);
      before_a = before_a + (x > a).bits, before_b = before_b + (x > b).bits;
      before_c = before_c + (x > c).bits, before_d = before_d + (x > d).bits;
    }
    const counts few = splat<counts>(static_cast<signed_of<C>>(-k));
    const P top = splat<P>(reduce_max(max(max(a, b), max(c, d))));
    a = select(before_a > few, a, top), b = select(before_b > few, b, top);
    c = select(before_c > few, c, top), d = select(before_d > few, d, top);
    return reduce_min(min(min(a, b), min(c, d)));
  }
};

template <class T>
void best_of_row(const T* row, std::int64_t n, std::int64_t* heap, std::int64_t k) {
  if constexpr (!is_ordered_by_bits<T> && sizeof(T) >= 4)
    if (k > 0 && k <= few_best<T>::most && n >= few_best<T>::shortest) return dispatch<few_best<T>>(row, n, heap, k);
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
