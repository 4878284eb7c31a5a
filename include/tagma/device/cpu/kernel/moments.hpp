// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Mean and variance on the CPU, in one pass over memory: of a block that stays in the cache, first the mean and then
/// the squared deviations from it. An element is taken off before, so that numbers far from zero lose nothing; blocks
/// are joined by the formula of Chan, Golub and LeVeque 1983. What is a block, and their order, follows from the
/// extents alone: the bytes do not depend on the threads.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/expr/op/moments.hpp"

namespace tagma::device {
namespace cpu::detail {

/// The mean of neighbours, and the sum of their squared deviations.
template <class T>
struct moments_of_row {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  /// @param next from this row to the one that is called into the cache meanwhile; 0 if there is none
  TAGMA_INLINE static void run(const T* from, std::int64_t n, double* to, std::int64_t next = 0) {
    const C first = static_cast<C>(from[0]);
    const C mean = sum<false>(from, n, first, C(0), 0) / static_cast<C>(n);
    to[0] = static_cast<double>(first) + static_cast<double>(mean);
    to[1] = static_cast<double>(sum<true>(from, n, first, mean, next));
  }

 private:
  // No lambdas: nvcc forgets that they are to be inlined, and vectors must not leave the instruction set of a loop.
  template <bool Square, class V>
  TAGMA_INLINE static V add(const V& sum, const V& x, const V& first, const V& centre) {
    if constexpr (Square)
      return sum + (x - first - centre) * (x - first - centre);
    else
      return sum + (x - first);
  }
  template <bool Square>
  TAGMA_INLINE static C sum(const T* from, std::int64_t n, C first, C centre, std::int64_t next) {
    const P f = splat<P>(first), m = splat<P>(centre);
    P a = splat<P>(C(0)), b = a, c = a, d = a;
    std::int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
      // The squares are of what is in the cache already, while memory would have nothing to do.
      if constexpr (Square)
        for (std::int64_t l = 0; l < 32; l += 64 / static_cast<std::int64_t>(sizeof(T)))
          __builtin_prefetch(from + i + next + l);
      a = add<Square>(a, load<8>(from + i), f, m);
      b = add<Square>(b, load<8>(from + i + 8), f, m);
      c = add<Square>(c, load<8>(from + i + 16), f, m);
      d = add<Square>(d, load<8>(from + i + 24), f, m);
    }
    for (; i + 8 <= n; i += 8) a = add<Square>(a, load<8>(from + i), f, m);
    C total = reduce_add((a + b) + (c + d));
    for (; i < n; ++i) total = add<Square>(total, static_cast<C>(from[i]), first, centre);
    return total;
  }
};

/// Mean and variance of each of many rows that are a block at most.
template <class T>
struct moments_of_rows {
  using C = compute_t<T>;
  TAGMA_INLINE static void run(const T* from, std::int64_t rows, std::int64_t n, C* mean, C* variance) {
    for (std::int64_t r = 0; r < rows; ++r) {
      double found[2]{};
      moments_of_row<T>::run(from + r * n, n, found, r + 1 < rows ? n : 0);
      if (mean != nullptr) mean[r] = static_cast<C>(found[0]);
      if (variance != nullptr) variance[r] = static_cast<C>(found[1] / static_cast<double>(n));
    }
  }
};

/// Adds up to 32 rows of columns, of which those of `first` are taken off, to the moments of `before` rows. Four packs
/// of columns at once, so that no sum waits for the one before it; each column is joined as if it were alone.
template <class T>
struct moments_of_columns {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static void run(const T* first, const T* const* rows, std::int64_t count, std::int64_t columns,
                               std::int64_t before, C* mean, C* squares) {
    const P each = splat<P>(static_cast<C>(count)),
            share = splat<P>(static_cast<C>(count) / static_cast<C>(before + count));
    const P weight = splat<P>(static_cast<C>(before)) * share;
    std::int64_t i = 0;
    for (; i + 32 <= columns; i += 32) {
      const P z0 = load<8>(first + i), z1 = load<8>(first + i + 8), z2 = load<8>(first + i + 16),
              z3 = load<8>(first + i + 24);
      P a = splat<P>(C(0)), b = a, c = a, d = a;
      for (std::int64_t r = 0; r < count; ++r) {
        const T* const row = rows[r] + i;
        a = a + (load<8>(row) - z0);
        b = b + (load<8>(row + 8) - z1);
        c = c + (load<8>(row + 16) - z2);
        d = d + (load<8>(row + 24) - z3);
      }
      a = a / each, b = b / each, c = c / each, d = d / each;
      P s = splat<P>(C(0)), t = s, u = s, v = s;
      for (std::int64_t r = 0; r < count; ++r) {
        const T* const row = rows[r] + i;
        s = add_square(s, load<8>(row) - z0 - a);
        t = add_square(t, load<8>(row + 8) - z1 - b);
        u = add_square(u, load<8>(row + 16) - z2 - c);
        v = add_square(v, load<8>(row + 24) - z3 - d);
      }
      join(mean + i, squares + i, a, s, share, weight);
      join(mean + i + 8, squares + i + 8, b, t, share, weight);
      join(mean + i + 16, squares + i + 16, c, u, share, weight);
      join(mean + i + 24, squares + i + 24, d, v, share, weight);
    }
    for (; i < columns; i += 8) {
      const int width = columns - i < 8 ? static_cast<int>(columns - i) : 8;
      const P zero = part_of(first + i, width);
      P a = splat<P>(C(0)), s = a;
      for (std::int64_t r = 0; r < count; ++r) a = a + (part_of(rows[r] + i, width) - zero);
      a = a / each;
      for (std::int64_t r = 0; r < count; ++r) s = add_square(s, part_of(rows[r] + i, width) - zero - a);
      join(mean + i, squares + i, a, s, share, weight);
    }
  }

 private:
  TAGMA_INLINE static P part_of(const T* from, int width) { return width == 8 ? load<8>(from) : load<8>(from, width); }
  TAGMA_INLINE static P add_square(const P& sum, const P& off) { return mul_add(off, off, sum); }
  TAGMA_INLINE static void join(C* mean, C* squares, const P& centre, const P& spread, const P& share,
                                const P& weight) {
    const P old = load<8>(static_cast<const C*>(mean)), off = centre - old;
    store(mean, mul_add(off, share, old));
    store(squares, load<8>(static_cast<const C*>(squares)) + spread + off * off * weight);
  }
};

/// Which elements are joined, and in which parts.
struct moments_plan {
  static constexpr std::int64_t block = 1024;  ///< neighbours that are a block
  static constexpr std::int64_t rows = 32;     ///< rows that are one, of so many columns
  static constexpr std::int64_t columns = 256;

  std::int64_t kept_extents[max_rank]{}, kept_strides[max_rank]{};
  std::int64_t joined_extents[max_rank]{}, joined_strides[max_rank]{};
  int kept_axes = 0, joined_axes = 0;  ///< but the last axis of all
  bool last_is_joined = false;
  std::int64_t last = 1;    ///< extent of the last axis
  std::int64_t kept = 1;    ///< results but for the last axis
  std::int64_t lines = 1;   ///< lines of the last axis that are joined
  std::int64_t parts = 1;   ///< of the lines, found by different tasks
  std::int64_t groups = 1;  ///< of columns

  moments_plan(const shape& dims, std::uint64_t mask);
  /// True if each result is that of one block.
  [[nodiscard]] bool is_of_rows() const { return last_is_joined && lines == 1 && last > 0 && last <= block; }
  /// Blocks of a line, or 1.
  [[nodiscard]] std::int64_t blocks_of_line() const { return last_is_joined ? pieces(last, block) : 1; }
  [[nodiscard]] std::int64_t pieces_of_lines() const { return lines * blocks_of_line(); }
  [[nodiscard]] std::int64_t joined() const { return lines * (last_is_joined ? last : 1); }
  [[nodiscard]] std::int64_t results() const { return kept * (last_is_joined ? 1 : last); }

  [[nodiscard]] static std::int64_t offset(std::int64_t index, const std::int64_t* extents, const std::int64_t* strides,
                                           int axes);
  [[nodiscard]] std::int64_t of_kept(std::int64_t i) const { return offset(i, kept_extents, kept_strides, kept_axes); }
  [[nodiscard]] std::int64_t of_line(std::int64_t i) const;
};

/// Number, mean and squared deviations of some elements.
struct joined_moments {
  double count = 0, mean = 0, squares = 0;
  void add(double other_count, double other_mean, double other_squares);
};

template <class T>
class moments_task {
 public:
  using C = compute_t<T>;
  moments_task(const kernel_args& args, const moments_plan& plan, double* partial)
      : from_(args.in[0].as<const T>()), plan_(plan), partial_(partial) {}

  /// Part `p` of the results of a position that is kept and of a group of columns.
  void run(std::int64_t kept, std::int64_t group, std::int64_t p) const {
    const std::int64_t all = plan_.pieces_of_lines(), each = pieces(all, plan_.parts);
    const std::int64_t first = p * each < all ? p * each : all, end = first + each < all ? first + each : all;
    const T* const from = from_ + plan_.of_kept(kept);
    if (plan_.last_is_joined) return of_rows(from, first, end, place(p, kept));
    const std::int64_t column = group * moments_plan::columns, rest = plan_.last - column;
    of_columns(from + column, rest < moments_plan::columns ? rest : moments_plan::columns, first, end,
               place(p, kept * plan_.last + column));
  }
  /// Elements in part `p`.
  [[nodiscard]] double count(std::int64_t p) const {
    const std::int64_t all = plan_.pieces_of_lines(), each = pieces(all, plan_.parts);
    const std::int64_t first = p * each < all ? p * each : all, end = first + each < all ? first + each : all;
    if (!plan_.last_is_joined) return static_cast<double>(end - first);
    const auto before = [this](std::int64_t piece) {
      const std::int64_t line = piece / plan_.blocks_of_line(),
                         at = piece % plan_.blocks_of_line() * moments_plan::block;
      return line * plan_.last + at;
    };
    return plan_.last == 0 ? 0 : static_cast<double>(before(end) - before(first));
  }
  /// Means of part `p`; the squares are as many elements behind as there are results.
  [[nodiscard]] double* place(std::int64_t p, std::int64_t result) const {
    return partial_ + 2 * p * plan_.results() + result;
  }

 private:
  void of_rows(const T* from, std::int64_t first, std::int64_t end, double* to) const {
    joined_moments total;
    const std::int64_t blocks = plan_.blocks_of_line();
    for (std::int64_t piece = first; piece < end; ++piece) {
      const std::int64_t at = piece % blocks * moments_plan::block, rest = plan_.last - at;
      const std::int64_t n = rest < moments_plan::block ? rest : moments_plan::block;
      double found[2]{};
      dispatch<moments_of_row<T>>(from + plan_.of_line(piece / blocks) + at, n, static_cast<double*>(found));
      total.add(static_cast<double>(n), found[0], found[1]);
    }
    to[0] = total.mean;
    to[plan_.results()] = total.squares;
  }
  void of_columns(const T* from, std::int64_t n, std::int64_t first, std::int64_t end, double* to) const {
    if (first == end) return;
    C mean[moments_plan::columns]{}, squares[moments_plan::columns]{};
    const T *rows[moments_plan::rows], *const zero = from + plan_.of_line(first);
    for (std::int64_t line = first; line < end; line += moments_plan::rows) {
      const std::int64_t count = end - line < moments_plan::rows ? end - line : moments_plan::rows;
      for (std::int64_t r = 0; r < count; ++r) rows[r] = from + plan_.of_line(line + r);
      dispatch<moments_of_columns<T>>(zero, static_cast<const T* const*>(rows), count, n, line - first,
                                      static_cast<C*>(mean), static_cast<C*>(squares));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<double>(static_cast<C>(zero[i])) + static_cast<double>(mean[i]);
      to[plan_.results() + i] = static_cast<double>(squares[i]);
    }
  }

  const T* from_;
  const moments_plan& plan_;
  double* partial_;
};

template <class T>
struct moments_state final : kernel_state {
  explicit moments_state(const moments_plan& p)
      : plan(p), partial(p.is_of_rows() ? 0 : bounded_product(2 * p.parts, p.results())) {}
  moments_plan plan;
  scratch<double> partial;
};

template <class T>
owned<kernel_state> prepare_moments(const kernel_args& args, const run_context&) {
  return make_owned<moments_state<T>>(moments_plan(args.in[0].dims, static_cast<std::uint64_t>(args.attributes[0])));
}

template <class T>
void moments(const kernel_args& args, const run_context& context) {
  auto& state = static_cast<moments_state<T>&>(*args.state);
  const moments_plan& plan = state.plan;
  const std::int64_t results = plan.results();
  if (results == 0) return;
  auto* const mean = args.outs[0].as<compute_t<T>>();
  auto* const variance = args.outs[1].as<compute_t<T>>();
  if (plan.is_of_rows())
    return over_pieces(results, plan.last * static_cast<std::int64_t>(sizeof(T)) * 4, context,
                       [&](std::int64_t first, std::int64_t last) {
                         dispatch<moments_of_rows<T>>(args.in[0].as<const T>() + first * plan.last, last - first,
                                                      plan.last, mean == nullptr ? mean : mean + first,
                                                      variance == nullptr ? variance : variance + first);
                       });
  const moments_task<T> task(args, plan, state.partial.data());
  const std::int64_t tasks = plan.kept * plan.groups * plan.parts;
  const std::int64_t bytes = pieces(static_cast<std::int64_t>(args.in[0].bytes()), tasks);
  over_pieces(tasks, 2 * bytes, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t p = t % plan.parts, rest = t / plan.parts;
      task.run(rest / plan.groups, rest % plan.groups, p);
    }
  });
  // Into the first part, by `joined_moments::add`, whose shares all results have in common.
  double *const means = task.place(0, 0), *const squares = task.place(0, results);
  double count = task.count(0);
  if (count == 0) std::memset(means, 0, static_cast<std::size_t>(2 * results) * sizeof(double));
  for (std::int64_t p = 1; p < plan.parts; ++p) {
    const double others = task.count(p), share = others / (count + others), weight = count * share;
    if (others == 0) continue;
    const double *const other = task.place(p, 0), *const more = task.place(p, results);
    for (std::int64_t i = 0; i < results; ++i) {
      const double off = other[i] - means[i];
      means[i] += off * share;
      squares[i] += more[i] + off * off * weight;
    }
    count += others;
  }
  const double n = static_cast<double>(plan.joined());
  for (std::int64_t i = 0; i < results; ++i) {
    if (mean != nullptr) mean[i] = static_cast<compute_t<T>>(n > 0 ? means[i] : 0 / n);
    if (variance != nullptr) variance[i] = static_cast<compute_t<T>>(squares[i] / n);
  }
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::moments>> {
  template <dtype, dtype, dtype In>
  static constexpr kernel_entry entry{&cpu::detail::moments<stored<In>>, &cpu::detail::prepare_moments<stored<In>>};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/moments.ipp"
#endif
