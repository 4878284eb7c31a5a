// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Running sums on the CPU, element after element: the bytes do not depend on the threads.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/scan.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Runs along `n` rows of `columns` neighbours each.
template <class T>
struct scan_columns {
  using C = compute_t<T>;
  static constexpr std::int64_t most = 256;  ///< columns, so that their sums stay in the cache
  /// @param step from a row to the next one, in elements
  TAGMA_INLINE static void run(const T* from, T* to, std::int64_t n, std::int64_t step, std::int64_t columns,
                               bool exclusive) {
    C sums[most];
    const std::int64_t whole = columns / 8 * 8;
    for (std::int64_t i = 0; i < whole; ++i) sums[i] = 0;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = 0; i < whole; i += 8) {
        const pack<C, 8> before = load<8>(sums + i), sum = before + load<8>(from + k * step + i);
        store(sums + i, sum);
        store(to + k * step + i, exclusive ? before : sum);
      }
    for (std::int64_t i = whole; i < columns; ++i) {
      C sum = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const C before = sum;
        sum = sum_of<C>(sum, static_cast<C>(from[k * step + i]));
        to[k * step + i] = T(exclusive ? before : sum);
      }
    }
  }
};

/// Runs along rows whose elements are neighbours. A sum waits for the one before it, so several rows take turns.
template <class T>
struct scan_rows {
  using C = compute_t<T>;
  /// Written out, since g++ keeps what a loop of few rounds indexes in memory.
  template <std::size_t... R>
  TAGMA_INLINE static void some(const T* from, T* to, std::int64_t n, bool exclusive, bool reverse,
                                std::index_sequence<R...>) {
    C sums[sizeof...(R)]{}, next[sizeof...(R)];
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t at = reverse ? n - 1 - k : k;
      const T* const in = from + at;
      T* const out = to + at;
      ((next[R] = sum_of<C>(sums[R], static_cast<C>(in[static_cast<std::int64_t>(R) * n]))), ...);
      ((out[static_cast<std::int64_t>(R) * n] = T(exclusive ? sums[R] : next[R])), ...);
      ((sums[R] = next[R]), ...);
    }
  }
  TAGMA_INLINE static void run(const T* from, T* to, std::int64_t rows, std::int64_t n, bool exclusive, bool reverse) {
    for (; rows >= 8; rows -= 8, from += 8 * n, to += 8 * n)
      some(from, to, n, exclusive, reverse, std::make_index_sequence<8>{});
    for (; rows >= 3; rows -= 3, from += 3 * n, to += 3 * n)
      some(from, to, n, exclusive, reverse, std::make_index_sequence<3>{});
    for (; rows > 0; --rows, from += n, to += n) some(from, to, n, exclusive, reverse, std::make_index_sequence<1>{});
  }
};

/// The same of 16-bit floats, which are widened and rounded by the vector, some columns at a time.
template <class T>
struct scan_rows_of_halves {
  static constexpr std::int64_t most = 64;
  template <std::size_t... R>
  TAGMA_INLINE static void some(const T* from, T* to, std::int64_t n, bool exclusive, bool reverse,
                                std::index_sequence<R...>) {
    float values[sizeof...(R)][std::size_t{most}], sums[sizeof...(R)]{}, next[sizeof...(R)];
    for (std::int64_t first = 0; first < n; first += most) {
      const std::int64_t count = n - first < most ? n - first : most, at = reverse ? n - first - count : first;
      (convert_elements::run(from + static_cast<std::int64_t>(R) * n + at, static_cast<float*>(values[R]), count), ...);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = reverse ? count - 1 - k : k;
        ((next[R] = sums[R] + values[R][i]), ...);
        ((values[R][i] = exclusive ? sums[R] : next[R]), ...);
        ((sums[R] = next[R]), ...);
      }
      (convert_elements::run(static_cast<const float*>(values[R]), to + static_cast<std::int64_t>(R) * n + at, count),
       ...);
    }
  }
  TAGMA_INLINE static void run(const T* from, T* to, std::int64_t rows, std::int64_t n, bool exclusive, bool reverse) {
    for (; rows >= 8; rows -= 8, from += 8 * n, to += 8 * n)
      some(from, to, n, exclusive, reverse, std::make_index_sequence<8>{});
    for (; rows >= 3; rows -= 3, from += 3 * n, to += 3 * n)
      some(from, to, n, exclusive, reverse, std::make_index_sequence<3>{});
    for (; rows > 0; --rows, from += n, to += n) some(from, to, n, exclusive, reverse, std::make_index_sequence<1>{});
  }
};

/// The same of integers, whose sums have no order: those of a vector first, then all before it are added.
template <class T>
struct scan_integers {
  using word = std::make_unsigned_t<T>;
  using vector = typename plain_vectors<word>::type;
  static constexpr std::int64_t lanes = plain_vectors<word>::lanes;

  /// Adds to each lane those before it. Written out, since nvcc takes no packs as lanes.
  template <int By = 1>
  TAGMA_INLINE static void add_before(vector& v) {
    constexpr auto from = [](int lane) { return lane < By ? static_cast<int>(lanes) : lane - By; };
    if constexpr (lanes == 8)
      v += __builtin_shufflevector(v, vector{}, from(0), from(1), from(2), from(3), from(4), from(5), from(6), from(7));
    else if constexpr (lanes == 4)
      v += __builtin_shufflevector(v, vector{}, from(0), from(1), from(2), from(3));
    else
      v += __builtin_shufflevector(v, vector{}, from(0), from(1));
    if constexpr (2 * By < lanes) add_before<2 * By>(v);
  }
  TAGMA_INLINE static void turn(vector& v) {
    if constexpr (lanes == 8)
      v = __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0);
    else if constexpr (lanes == 4)
      v = __builtin_shufflevector(v, v, 3, 2, 1, 0);
    else
      v = __builtin_shufflevector(v, v, 1, 0);
  }

  template <bool Reverse>
  TAGMA_INLINE static void row(const word* from, word* to, std::int64_t n, bool exclusive) {
    vector before{};
    std::int64_t k = 0;
    for (; k + lanes <= n; k += lanes) {
      const std::int64_t at = Reverse ? n - lanes - k : k;
      vector own = *reinterpret_cast<const vector*>(from + at);
      if constexpr (Reverse) turn(own);
      vector sum = own;
      add_before(sum);
      const vector total = sum[lanes - 1] - vector{};
      sum += before;
      before += total;
      if (exclusive) sum -= own;
      if constexpr (Reverse) turn(sum);
      *reinterpret_cast<vector*>(to + at) = sum;
    }
    word last = before[0];
    for (; k < n; ++k) {
      const std::int64_t at = Reverse ? n - 1 - k : k;
      const auto next = static_cast<word>(last + from[at]);
      to[at] = exclusive ? last : next;
      last = next;
    }
  }
  TAGMA_INLINE static void run(const T* from, T* to, std::int64_t rows, std::int64_t n, bool exclusive, bool reverse) {
    for (; rows > 0; --rows, from += n, to += n)
      reverse ? row<true>(reinterpret_cast<const word*>(from), reinterpret_cast<word*>(to), n, exclusive)
              : row<false>(reinterpret_cast<const word*>(from), reinterpret_cast<word*>(to), n, exclusive);
  }
};

/// What runs along such rows.
template <class T>
using scan_of_rows =
    std::conditional_t<std::is_integral_v<T> && (sizeof(T) >= 4), scan_integers<T>,
                       std::conditional_t<std::is_same_v<T, compute_t<T>>, scan_rows<T>, scan_rows_of_halves<T>>>;

template <class T>
void cumulative_sum(const kernel_args& args, const run_context& context) {
  const op::around_axis at(args.out.dims, args.attributes[0]);
  const bool exclusive = args.attributes[1] != 0, reverse = args.attributes[2] != 0;
  if (args.out.elements() == 0) return;
  if (at.inner == 1)
    return over_pieces(
        at.outer, at.count * static_cast<std::int64_t>(sizeof(T)), context, [&](std::int64_t first, std::int64_t last) {
          dispatch<scan_of_rows<T>>(args.in[0].as<const T>() + first * at.count, args.out.as<T>() + first * at.count,
                                    last - first, at.count, exclusive, reverse);
        });
  constexpr std::int64_t most = scan_columns<T>::most;
  const std::int64_t strips = pieces(at.inner, most), width = at.inner < most ? at.inner : most;
  const auto size = static_cast<std::int64_t>(sizeof(T));
  over_pieces(at.outer * strips, at.count * width * size, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t column = t % strips * most, left = at.inner - column;
      const std::int64_t begin = t / strips * at.count * at.inner + (reverse ? (at.count - 1) * at.inner : 0) + column;
      dispatch<scan_columns<T>>(args.in[0].as<const T>() + begin, args.out.as<T>() + begin, at.count,
                                reverse ? -at.inner : at.inner, left < most ? left : most, exclusive);
    }
  });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::cumulative_sum>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::cumulative_sum<stored<Out>>};
};

}  // namespace tagma::device
