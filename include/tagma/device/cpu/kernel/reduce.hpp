// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reductions on the CPU. Sums use fixed trees that depend on the shape alone: the bytes do not depend on the threads.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/extremes.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/turn.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/runtime/sum_parts.hpp"

namespace tagma::device {
namespace cpu::detail {

using runtime::rows_of_part;

/// How two values join, and what joins with nothing.
struct join_sum {
  static constexpr bool is_extreme = false;
  template <class P>
  TAGMA_INLINE static P apply(const P& a, const P& b) {
    return sum_of(a, b);
  }
  template <class T>
  static constexpr T neutral() {
    return T(0);
  }
  static constexpr bool widens = true;
};
struct join_product {
  static constexpr bool is_extreme = false;
  template <class P>
  TAGMA_INLINE static P apply(const P& a, const P& b) {
    return product_of(a, b);
  }
  template <class T>
  static constexpr T neutral() {
    return T(1);
  }
  static constexpr bool widens = true;
};
/// The lowest and highest values of a type.
template <class T>
[[nodiscard]] constexpr T lowest() {
  if constexpr (std::is_same_v<T, float>)
    return -__builtin_huge_valf();
  else if constexpr (std::is_same_v<T, double>)
    return -__builtin_huge_val();
  else if constexpr (std::is_unsigned_v<T>)
    return T(0);
  else
    return static_cast<T>(T(1) << (sizeof(T) * 8 - 1));
}
template <class T>
[[nodiscard]] constexpr T highest() {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_huge_valf();
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_huge_val();
  else
    return static_cast<T>(~lowest<T>());
}
struct join_max {
  static constexpr bool is_extreme = true;
  template <class T>
  TAGMA_INLINE static T apply(const T& a, const T& b) {
    return max_lanes::apply(a, b);
  }
  /// `sofar` and a pack `x` without a NaN.
  template <class P>
  TAGMA_INLINE static P apply_number(const P& sofar, const P& x) {
    return larger(x, sofar);
  }
  template <class T>
  static constexpr T neutral() {
    return lowest<T>();
  }
  static constexpr bool widens = false;
};
struct join_min {
  static constexpr bool is_extreme = true;
  template <class T>
  TAGMA_INLINE static T apply(const T& a, const T& b) {
    return min_lanes::apply(a, b);
  }
  template <class P>
  TAGMA_INLINE static P apply_number(const P& sofar, const P& x) {
    return smaller(x, sofar);
  }
  template <class T>
  static constexpr T neutral() {
    return highest<T>();
  }
  static constexpr bool widens = false;
};

/// Packs that are joined one after the other. Of extremes of numbers with a point the lanes with a NaN are kept apart,
/// so that the next extreme takes one instruction.
template <class C, class Join, bool Apart = Join::is_extreme&& floating<C>>
struct joined_packs {
  using P = pack<C, 8>;
  P value;
  decltype(P{} != P{}) nans = value != value;
  TAGMA_INLINE void add(const P& x) {
    nans = nans | (x != x);
    value = Join::apply_number(value, x);
  }
  TAGMA_INLINE void join(const joined_packs& x) {
    nans = nans | x.nans;
    value = Join::apply_number(value, x.value);
  }
  TAGMA_INLINE P result() const { return select(nans, splat<P>(static_cast<C>(__builtin_nan(""))), value); }
};
template <class C, class Join>
struct joined_packs<C, Join, false> {
  using P = pack<C, 8>;
  P value;
  TAGMA_INLINE void add(const P& x) { value = Join::apply(value, x); }
  TAGMA_INLINE void join(const joined_packs& x) { add(x.value); }
  TAGMA_INLINE P result() const { return value; }
};

/// Joins the `n` neighbours of each of some rows: eight times four lanes at once, then the lanes, in blocks that are
/// joined in double.
template <class T, class Join>
struct join_row {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static C block(const T* from, std::int64_t n) {
    C total = Join::template neutral<C>();
    std::int64_t i = 0;
    if (n >= 8) {  // lanes that have nothing to join would be joined all the same
      joined_packs<C, Join> w{splat<P>(total)}, x{w.value}, y{w.value}, z{w.value};
      for (; i + 32 <= n; i += 32) {
        w.add(load<8>(from + i));
        x.add(load<8>(from + i + 8));
        y.add(load<8>(from + i + 16));
        z.add(load<8>(from + i + 24));
      }
      for (; i + 8 <= n; i += 8) w.add(load<8>(from + i));
      w.join(x), y.join(z), w.join(y);
      const P a = w.result();
      const auto half = Join::apply(low_half(a), high_half(a));
      const auto quarter = Join::apply(low_half(half), high_half(half));
      total = Join::apply(static_cast<C>(lane(quarter, 0)), static_cast<C>(lane(quarter, 1)));
    }
    for (; i < n; ++i) total = Join::apply(total, static_cast<C>(from[i]));
    return total;
  }
  static constexpr std::int64_t block_size = 4096;
  /// What partial results are joined in.
  using W = std::conditional_t<Join::widens && floating<C>, double, C>;

  TAGMA_INLINE static void run(const T* from, std::int64_t rows, std::int64_t n, W* to) {
    const std::int64_t most = std::is_same_v<W, double> ? block_size : n;
    for (std::int64_t r = 0; r < rows; ++r, from += n) {
      W total = Join::template neutral<W>();
      for (std::int64_t i = 0; i < n; i += most)
        total = Join::apply(total, static_cast<W>(block(from + i, n - i < most ? n - i : most)));
      to[r] = total;
    }
  }
};
/// Joins `rows` rows of `n` neighbours into one row, each result in the order of the rows. From row to row it is
/// `stride` elements.
template <class T, class Join>
struct join_columns {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  /// Four of doubles with their lanes of NaN would not all be in registers.
  using packs = joined_packs<C, Join, Join::is_extreme && std::is_same_v<C, float>>;
  /// Rows that are joined before the next columns are: results stay in registers, and what is read are neighbours.
  static constexpr std::int64_t together = 8;

  TAGMA_INLINE static void run(const T* from, std::int64_t rows, std::int64_t n, std::int64_t stride, C* to) {
    for (std::int64_t first = 0; first < rows; first += together, from += together * stride)
      block(from, rows - first < together ? rows - first : together, n, stride, to);
  }

 private:
  /// As packs do it, since how many columns there are follows from the threads: the first of equal ones stays, which
  /// may be zeros with other signs, and there is one NaN.
  TAGMA_INLINE static C join(C sofar, C x) {
    if constexpr (Join::is_extreme && std::is_same_v<C, float>)
      return sofar != sofar || x != x ? __builtin_nanf("") : Join::apply(x, sofar);
    else
      return Join::apply(sofar, x);
  }
  TAGMA_INLINE static void block(const T* from, std::int64_t rows, std::int64_t n, std::int64_t stride, C* to) {
    if (n < 8) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t r = 0; r < rows; ++r) to[i] = join(to[i], static_cast<C>(from[r * stride + i]));
      return;
    }
    // What remains of the last pack is joined with the columns before it, whose results are then dropped.
    C last[8];
    for (int l = 0; l < 8; ++l) last[l] = to[n - 8 + l];
    std::int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
      packs a{load<8>(to + i)}, b{load<8>(to + i + 8)}, c{load<8>(to + i + 16)}, d{load<8>(to + i + 24)};
      const T* row = from + i;
      for (std::int64_t r = 0; r < rows; ++r, row += stride) {
        a.add(load<8>(row));
        b.add(load<8>(row + 8));
        c.add(load<8>(row + 16));
        d.add(load<8>(row + 24));
      }
      store(to + i, a.result()), store(to + i + 8, b.result());
      store(to + i + 16, c.result()), store(to + i + 24, d.result());
    }
    for (; i < n; i += 8) {
      const bool whole = i + 8 <= n;
      C* const sums = whole ? to + i : last;
      const T* row = from + (whole ? i : n - 8);
      packs a{load<8>(static_cast<const C*>(sums))};
      for (std::int64_t r = 0; r < rows; ++r, row += stride) a.add(load<8>(row));
      store(sums, a.result());
    }
    for (std::int64_t l = 8 - n % 8; l < 8; ++l) to[n - 8 + l] = last[l];
  }
};

/// The same of rows that may be short: of many of these, eight are read as one, so that vectors are full and no sum
/// waits for the one before it. What is joined with what follows from `rows` and `n` alone.
template <class T, class Join>
[[gnu::cold]] void join_rows(const T* from, std::int64_t rows, std::int64_t n, std::int64_t stride, compute_t<T>* to) {
  using C = compute_t<T>;
  constexpr std::int64_t wide = 32, many = 128;
  if (n < wide && rows >= many && stride == n) {
    C eight[8 * wide];
    for (std::int64_t i = 0; i < 8 * n; ++i) eight[i] = Join::template neutral<C>();
    dispatch<join_columns<T, Join>>(from, rows / 8, 8 * n, 8 * n, static_cast<C*>(eight));
    for (std::int64_t i = 0; i < 8 * n; i += n)
      for (std::int64_t j = 0; j < n; ++j) to[j] = Join::apply(to[j], eight[i + j]);
    from += rows / 8 * 8 * n;
    rows %= 8;
  }
  dispatch<join_columns<T, Join>>(from, rows, n, stride, to);
}

/// The axes of a reduction, neighbours of one kind joined.
struct reduced_axes {
  std::int64_t extents[max_rank]{};
  bool reduced[max_rank]{};
  int count = 0;
};
[[nodiscard]] inline reduced_axes join_axes(const shape& in, std::uint64_t mask) {
  reduced_axes axes;
  for (int i = 0; i < in.rank; ++i) {
    const bool reduced = (mask >> i) & 1;
    if (in[i] == 1) continue;
    if (axes.count > 0 && axes.reduced[axes.count - 1] == reduced) {
      axes.extents[axes.count - 1] *= in[i];
    } else {
      axes.extents[axes.count] = in[i];
      axes.reduced[axes.count++] = reduced;
    }
  }
  return axes;
}

/// About as many elements as are worth a task.
inline constexpr std::int64_t elements_of_task = 32768;

/// All elements. The parts are a matter of their number alone: of whole blocks, and 64 at most.
template <class T, class Join>
[[gnu::cold]] void reduce_all(const T* from, std::int64_t n, compute_t<T>* to, const run_context& context) {
  using row = join_row<T, Join>;
  constexpr std::int64_t most = 64;
  if (n <= elements_of_task) {
    typename row::W total{};
    dispatch<row>(from, std::int64_t{1}, n, &total);
    *to = static_cast<compute_t<T>>(total);
    return;
  }
  const std::int64_t blocks = pieces(n, row::block_size), share = pieces(blocks, most) * row::block_size;
  const std::int64_t part = share < elements_of_task ? elements_of_task : share, parts = pieces(n, part);
  typename row::W partial[most]{};
  context.threads->parallel_for(parts, [&](std::int64_t p) {
    dispatch<row>(from + p * part, std::int64_t{1}, n - p * part < part ? n - p * part : part, partial + p);
  });
  typename row::W total = partial[0];
  for (std::int64_t p = 1; p < parts; ++p) total = Join::apply(total, partial[p]);
  *to = static_cast<compute_t<T>>(total);
}

/// Many rows of a few neighbours into one row, which has the neutral element, in parts of `part` rows.
template <class T, class Join>
[[gnu::cold]] void reduce_rows(const T* from, std::int64_t rows, std::int64_t n, std::int64_t part, compute_t<T>* to,
                               const run_context& context) {
  using C = compute_t<T>;
  constexpr std::int64_t most = 16, widest = 256;
  const std::int64_t parts = pieces(rows, part);
  C partial[most * widest];
  const auto some = [&](std::int64_t p) {
    C* const own = p == 0 ? to : partial + p * widest;
    for (std::int64_t i = 0; i < n; ++i) own[i] = Join::template neutral<C>();
    join_rows<T, Join>(from + p * part * n, rows - p * part < part ? rows - p * part : part, n, n, own);
  };
  context.threads->parallel_for(parts, some);
  for (std::int64_t p = 1; p < parts; ++p)
    for (std::int64_t i = 0; i < n; ++i) to[i] = Join::apply(to[i], partial[p * widest + i]);
}

/// The last two joined axes at once, those around them one by one. Results that differ along one axis that is kept are
/// found by different tasks, each in the order of its elements: the first axis that is long enough, or else the
/// longest.
/// @tparam Turns short rows become columns
template <class T, class Join, bool Turns>
[[gnu::cold]] void reduce_axes(const reduced_axes& axes, const T* from, compute_t<T>* to, const run_context& context) {
  using C = compute_t<T>;
  const int last = axes.count - 1;
  const std::int64_t n = axes.extents[last], m = axes.extents[last - 1];
  std::int64_t outer = 1;
  for (int a = 0; a < last - 1; ++a) outer *= axes.extents[a];
  std::int64_t strides[max_rank]{}, stride = 1;
  int shared = axes.reduced[last] ? last - 1 : last;
  for (int a = last; a >= 0; --a) {
    strides[a] = axes.reduced[a] ? 0 : stride;
    if (!axes.reduced[a]) stride *= axes.extents[a];
    if (!axes.reduced[a] && (axes.extents[a] >= 8 || axes.extents[a] > axes.extents[shared])) shared = a;
  }
  // Positions first to end of the shared axis, and all of the others.
  const auto some = [&](std::int64_t first, std::int64_t end) __attribute__((cold, noinline)) {
    const std::int64_t few = end - first;
    const std::int64_t count = shared < last - 1 ? outer / axes.extents[shared] * few : outer;
    const std::int64_t first_row = shared == last - 1 ? first : 0, end_row = shared == last - 1 ? end : m;
    const std::int64_t column = shared == last ? first : 0, columns = shared == last ? few : n;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i, at = 0, o = 0, scale = 1;
      for (int a = last - 2; a >= 0; --a) {
        const std::int64_t size = a == shared ? few : axes.extents[a];
        const std::int64_t position = rest % size + (a == shared ? first : 0);
        at += position * strides[a];
        o += position * scale;
        scale *= axes.extents[a];
        rest /= size;
      }
      if (axes.reduced[last]) {
        if constexpr (Turns)
          if (n <= longest_turned && m >= 8) {
            over_turned_rows(from + (o * m + first_row) * n, end_row - first_row, n,
                             [&](const C* turned, std::int64_t r, std::int64_t width) {
                               dispatch<join_columns<C, Join>>(turned, n, width, rows_turned, to + at + first_row + r);
                             });
            continue;
          }
        constexpr std::int64_t most = 32;
        typename join_row<T, Join>::W values[most];
        for (std::int64_t r = first_row; r < end_row; r += most) {
          const std::int64_t rows = end_row - r < most ? end_row - r : most;
          dispatch<join_row<T, Join>>(from + (o * m + r) * n, rows, n, values + 0);
          for (std::int64_t k = 0; k < rows; ++k) {
            C& total = to[at + (r + k) * strides[last - 1]];
            total = Join::apply(total, static_cast<C>(values[k]));
          }
        }
      } else {
        join_rows<T, Join>(from + o * m * n + column, m, columns, n, to + at + column);
      }
    }
  };
  const std::int64_t size = axes.extents[shared], each = outer * m * n / size;
  std::int64_t per_task = pieces(elements_of_task, each + 1);
  if (shared == last) {
    // Neighbours in memory, and work for all threads. Each column is joined by itself, in whatever task.
    const std::int64_t even = size / (2 * std::int64_t{context.threads->threads()}) / 32 * 32;
    const std::int64_t wide = even < 32 ? 32 : even < 512 ? even : 512;
    per_task = pieces(per_task, wide) * wide;
  }
  std::int64_t tasks = pieces(size, per_task);
  // Columns fewer than a pack are joined one by one, which gives a NaN other bits: unless there are no more, they are
  // done with those before them.
  if (shared == last && tasks > 1 && size - (tasks - 1) * per_task < 8) --tasks;
  context.threads->parallel_for(tasks,
                                [&](std::int64_t t) { some(t * per_task, t + 1 < tasks ? (t + 1) * per_task : size); });
}

/// Whether every reduction turns short rows. Sums of floats are in most programs, of which few have such rows.
template <class T, class Join>
inline constexpr bool always_turns = !std::is_same_v<T, float> || !std::is_same_v<Join, join_sum>;

template <class T, class Join, bool Turns = always_turns<T, Join>>
[[gnu::cold]] void reduce(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  const reduced_axes axes = join_axes(args.in[0].dims, static_cast<std::uint64_t>(args.attributes[0]));
  const T* from = args.in[0].as<const T>();
  const std::int64_t results = args.out.elements();
  C* const to = wide_result<T>(args);
  for (std::int64_t i = 0; i < results && !args.continued; ++i) to[i] = Join::template neutral<C>();
  if (args.in[0].elements() > 0) {
    if (axes.count == 0) {
      to[0] = static_cast<C>(from[0]);
    } else if (axes.count == 1 && axes.reduced[0]) {
      reduce_all<T, Join>(from, axes.extents[0], to, context);
    } else if (axes.count == 1) {
      for (std::int64_t i = 0; i < results; ++i) to[i] = static_cast<C>(from[i]);
    } else if (const std::int64_t part = rows_of_part(axes.extents[0], axes.extents[1]);
               axes.count == 2 && axes.reduced[0] && part < axes.extents[0]) {
      reduce_rows<T, Join>(from, axes.extents[0], axes.extents[1], part, to, context);
    } else {
      reduce_axes<T, Join, Turns>(axes, from, to, context);
    }
  }
  round_result<T>(args, 0, results);
}

template <class T>
[[gnu::cold]] void fraction(const kernel_args& args, const run_context&) {
  const extent count = op::fraction::elements(args.in[0].dims, args.attributes[0]);
  *args.out.as<T>() = T(static_cast<compute_t<T>>(1.0 / static_cast<double>(count)));
}

/// Whether truth values of a short row, eight or more, have one that is `wanted`: without a call.
[[nodiscard]] inline bool has_truth_value(const std::uint8_t* from, std::int64_t n, bool wanted) {
  const std::uint64_t ones = 0x0101010101010101u, flip = wanted ? 0 : ones;
  std::uint64_t found = 0, eight = 0;
  for (std::int64_t i = 0; i < n; i += 8) {
    std::memcpy(&eight, from + (i + 8 <= n ? i : n - 8), 8);
    found |= eight ^ flip;
  }
  return found != 0;
}

/// @tparam Out bool: what depends on no parameter is compiled in every program
template <dtype Out, bool All>
void reduce_bool(const kernel_args& args, const run_context&) {
  const reduced_axes axes = join_axes(args.in[0].dims, static_cast<std::uint64_t>(args.attributes[0]));
  const auto* from = args.in[0].as<const std::uint8_t>();
  auto* to = args.out.as<std::uint8_t>();
  const std::int64_t results = args.out.elements();
  if (results > 0) std::memset(to, All, static_cast<std::size_t>(results));
  std::int64_t strides[max_rank]{}, stride = 1;
  for (int a = axes.count - 1; a >= 0; --a) {
    strides[a] = axes.reduced[a] ? 0 : stride;
    if (!axes.reduced[a]) stride *= axes.extents[a];
  }
  // Rows of the last axis, each of one result or of results side by side.
  const int last = axes.count - 1;
  const std::int64_t row = last < 0 ? 1 : axes.extents[last], rows = row == 0 ? 0 : args.in[0].elements() / row;
  if (last == 1 && axes.reduced[1] && row >= 8 && row <= 32) {
    for (std::int64_t r = 0; r < rows; ++r, from += row) to[r] = has_truth_value(from, row, !All) != All;
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r, from += row) {
    std::int64_t rest = r, at = 0;
    for (int a = last - 1; a >= 0; --a) {
      at += (a > 0 ? rest % axes.extents[a] : rest) * strides[a];
      if (a > 0) rest /= axes.extents[a];
    }
    if (last >= 0 && axes.reduced[last] && row >= 8 && row <= 32) {
      if (has_truth_value(from, row, !All)) to[at] = !All;
    } else if (last >= 0 && axes.reduced[last]) {
      if (std::memchr(from, All ? 0 : 1, static_cast<std::size_t>(row)) != nullptr) to[at] = !All;
    } else {
      for (std::int64_t i = 0; i < row; ++i) to[at + i] = All ? to[at + i] & from[i] : to[at + i] | from[i];
    }
  }
}

/// Positions of the extremes of rows.
template <class T, bool Largest>
void extremes_along(const T* from, std::int64_t rows, std::int64_t n, std::int64_t* to) {
  using C = compute_t<T>;
  if constexpr (std::is_same_v<T, float>) {
    dispatch<extremes_of_rows<Largest>>(from, rows, n, to);
  } else if (n <= longest_turned) {
    over_turned_rows(from, rows, n, [&](const C* columns, std::int64_t r, std::int64_t count) {
      dispatch<extremes_of_columns<C, Largest>>(columns, n, count, rows_turned, to + r);
    });
  } else {
    for (std::int64_t r = 0; r < rows; ++r, from += n) {
      C value{};
      dispatch<join_row<T, std::conditional_t<Largest, join_max, join_min>>>(from, std::int64_t{1}, n, &value);
      dispatch<first_of_value<T>>(from, n, value, to + r);
    }
  }
}

/// Position of an extreme along the one reduced axis.
/// @tparam Few of few elements, one by one: packs would take longer to compile than they save
template <class T, bool Largest, bool Few>
TAGMA_COLD void arg_extreme(const kernel_args& args, [[maybe_unused]] const run_context& context) {
  const shape& in = args.in[0].dims;
  int axis = 0;
  while (!((args.attributes[0] >> axis) & 1)) ++axis;
  const std::int64_t n = in[axis], inner = in.elements(axis + 1, in.rank), outer = in.elements(0, axis);
  if (args.out.elements() == 0) return;
  if (n == 0) fail(status_code::invalid_argument, "there is no extreme of no elements");
  const T* from = args.in[0].as<const T>();
  auto* to = args.out.as<std::int64_t>();
  if constexpr (Few) {
    for (std::int64_t o = 0; o < outer; ++o, from += n * inner)
      for (std::int64_t i = 0; i < inner; ++i) extreme_one_by_one<T, Largest>(from + i, n, inner, to++);
  } else {
    // Rows of one column, or strips of columns.
    constexpr std::int64_t widest = extremes_of_columns<T, Largest>::widest;
    const std::int64_t strips = inner == 1 ? 1 : pieces(inner, widest), parts = outer * strips;
    const std::int64_t per_task = pieces(elements_of_task, n * (inner < widest ? inner : widest));
    context.threads->parallel_for(pieces(parts, per_task), [&](std::int64_t t) {
      const std::int64_t first = t * per_task, end = first + per_task < parts ? first + per_task : parts;
      if (inner == 1) return extremes_along<T, Largest>(from + first * n, end - first, n, to + first);
      for (std::int64_t p = first; p < end; ++p) {
        const std::int64_t o = p / strips, i = p % strips * widest, rest = inner - i;
        dispatch<extremes_of_columns<T, Largest>>(from + o * n * inner + i, n, rest < widest ? rest : widest, inner,
                                                  to + o * inner + i);
      }
    });
  }
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::sum>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::reduce<stored<Out>, cpu::detail::join_sum>);
  static constexpr bool turns_short_rows = true;
  template <dtype Out, dtype...>
  static constexpr kernel_entry short_rows_entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::reduce<stored<Out>, cpu::detail::join_sum, true>);
};
template <>
struct kernel<on_cpu, ir::key<op::product>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::reduce<stored<Out>, cpu::detail::join_product>);
};
template <>
struct kernel<on_cpu, ir::key<op::reduce_max>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::reduce<stored<Out>, cpu::detail::join_max>);
};
template <>
struct kernel<on_cpu, ir::key<op::reduce_min>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      cpu::wide_entry<stored<Out>>(&cpu::detail::reduce<stored<Out>, cpu::detail::join_min>);
};
template <>
struct kernel<on_cpu, ir::key<op::fraction>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::fraction<stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::all>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::reduce_bool<Out, true>};
};
template <>
struct kernel<on_cpu, ir::key<op::any>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::reduce_bool<Out, false>};
};
template <>
struct kernel<on_cpu, ir::key<op::argmax>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::arg_extreme<stored<In>, true, false>};
  /// Of short rows of floats, which are few or vary: what programs that train look at.
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry few_entry{
      &cpu::detail::arg_extreme<stored<In>, true, std::is_same_v<stored<In>, float>>};
};
template <>
struct kernel<on_cpu, ir::key<op::argmin>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::arg_extreme<stored<In>, false, false>};
  /// Of short rows of floats, which are few or vary: what programs that train look at.
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry few_entry{
      &cpu::detail::arg_extreme<stored<In>, false, std::is_same_v<stored<In>, float>>};
};

}  // namespace tagma::device
