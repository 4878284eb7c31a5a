// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Softmax, its logarithm and cross entropy on the CPU, row by row.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/turn.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/softmax.hpp"

namespace tagma::device {
namespace cpu::detail {

/// What becomes of a row.
enum class row_kind : std::uint8_t { softmax, log_softmax };

/// 16-bit floats of a row up to which it is widened, once, to where the rest is computed.
inline constexpr std::int64_t longest_widened = 4096;

/// Where exp(x - maximum) of a row can be kept: not in 16 bits, which would round it.
template <class T>
[[nodiscard]] constexpr T* kept_in(T* y) {
  return std::is_same_v<T, compute_t<T>> ? y : nullptr;
}

/// The maximum of a row, and the sum of exp(x - maximum), which `keep` receives unless it is null; it may be the row. A
/// function of its own, for all kernels of this file.
/// @tparam W lanes of the exponentials; they are added as eight
template <class T, int W = 8>
struct row_sums {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, C* highest, C* total, T* keep) {
    // A NaN need not become the maximum: it makes the sum one, and so all that is computed from that.
    C top = static_cast<C>(x[0]);
    std::int64_t first = 1;
    if (n >= 8) {
      P a = load<8>(x), b = a, c = a, d = a;  // four, so that none waits for the one before it
      for (first = 8; first + 32 <= n; first += 32) {
        a = larger(load<8>(x + first), a);
        b = larger(load<8>(x + first + 8), b);
        c = larger(load<8>(x + first + 16), c);
        d = larger(load<8>(x + first + 24), d);
      }
      for (; first + 8 <= n; first += 8) a = larger(load<8>(x + first), a);
      top = reduce_max(max(max(a, b), max(c, d)));
    }
    for (std::int64_t i = first; i < n; ++i) {
      const auto v = static_cast<C>(x[i]);
      top = v > top || v != v ? v : top;
    }
    P sum = splat<P>(C(0));
    const P shift = splat<P>(top);
    // What remains of the last pack comes from a copy, as in loops (fused.hpp); behind it is what adds nothing.
    std::int64_t begin = 0;
    if constexpr (W > 8) {
      constexpr std::int64_t lanes = lanes_of<W>;
      const auto wide_shift = broadcast<pack<C, W>>(top);
      auto sums = splat<pack<C, W>>(C(0));  // of lanes that are as many as those of `sum`
      for (; begin + lanes <= n; begin += lanes) {
        const pack<C, W> e = exp_of_negative(load<W>(x + begin) - wide_shift);
        if constexpr (lanes == 8) {
          sums = sums + e;
        } else {
          sum = sum + low_half(e);
          sum = sum + high_half(e);
        }
        if (keep != nullptr) store(keep + begin, e);
      }
      if constexpr (lanes == 8) {
        C eight[8];
        store(static_cast<C*>(eight), sums);
        sum = load<8>(static_cast<const C*>(eight));
      }
    }
    T padded[8], kept[8], *end = nullptr;
    for (T& p : padded) p = static_cast<T>(-__builtin_huge_valf());
    const int rest = static_cast<int>(n % 8);
    for (std::int64_t count = n - rest;;) {
      for (std::int64_t i = begin; i < count; i += 8) {
        const P e = exp_of_negative(load<8>(x + i) - shift);
        sum = sum + e;
        if (keep != nullptr) store(keep + i, e);
      }
      if (x == padded || rest == 0) break;
      for (int i = 0; i < rest; ++i) padded[i] = x[count + i];
      x = padded;
      begin = 0;
      if (keep != nullptr) end = keep + count, keep = kept;
      count = 8;
    }
    if (end != nullptr)
      for (int i = 0; i < rest; ++i) end[i] = kept[i];
    *highest = top;
    *total = reduce_add(sum);
  }
};

/// What softmax, its logarithm and its gradient make of an element, given two numbers of its row. Functions, not
/// lambdas: nvcc forgets that those are to be inlined, and vectors must not leave the instruction set of a loop.
struct exponential_part {
  template <class P>
  TAGMA_INLINE static P of(const P& x, const P& shift, const P& scale) {
    return exp_of_negative(x - shift) * scale;
  }
};
struct scaled_part {
  template <class P>
  TAGMA_INLINE static P of(const P& x, const P&, const P& scale) {
    return x * scale;
  }
};
struct logarithmic_part {
  template <class P>
  TAGMA_INLINE static P of(const P& x, const P& shift, const P& scale) {
    return x - shift - scale;
  }
};

/// Part(from, shift, scale) of eight rows that are turned, for `turn_back`.
template <class Part, class C>
struct part_of_turned {
  const C* from;
  pack<C, 8> shift, scale;
  TAGMA_INLINE pack<C, 8> operator()(std::int64_t k) const { return Part::of(load<8>(from + 8 * k), shift, scale); }
};

/// Eight short rows, a row in each lane.
template <class T>
struct eight_rows {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  P top, total;
  C turned[8 * longest_turned], powers[8 * longest_turned];

  /// Reads rows, and finds what `row_sums` finds, by the same additions: the bytes of a row do not depend on how many
  /// there are.
  TAGMA_INLINE void read(const T* x, std::int64_t n) {
    asm("" : "=m"(turned), "=m"(powers));  // g++ warns of elements that are not written, beyond rows of few
    turn_rows(x, n, turned, 8);
    P highest = load<8>(static_cast<const C*>(turned));
    for (std::int64_t k = 1; k < n; ++k) highest = larger(load<8>(static_cast<const C*>(turned) + 8 * k), highest);
    P sums[8];
    for (P& s : sums) s = splat<P>(C(0));
    for (std::int64_t k = 0; k < n; ++k) {
      const P e = exp_of_negative(load<8>(static_cast<const C*>(turned) + 8 * k) - highest);
      store(powers + 8 * k, e);
      sums[k % 8] = sums[k % 8] + e;
    }
    for (int i = 0; i < 4; ++i) sums[i] = sums[i] + sums[i + 4];
    if constexpr (sizeof(C) == 8)
      total = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    else
      total = sums[0] + sums[1] + sums[2] + sums[3];
    top = highest;
  }
  /// Writes Part(from, shift, scale) of all elements, where `from` has turned ones.
  template <class Part>
  TAGMA_INLINE static void write(const C* from, T* y, std::int64_t n, const P& shift, const P& scale) {
    turn_back<T>(part_of_turned<Part, C>{from, shift, scale}, n, y);
  }
};

/// What is left to do for an element of a softmax, of what `kept_in` has of it or else of its operand.
template <class T>
using rest_of_softmax = std::conditional_t<std::is_same_v<T, compute_t<T>>, scaled_part, exponential_part>;

/// y = Part(x, shift, scale), of a row.
template <class Part, class From, class T, class P>
TAGMA_INLINE void map_row(const From* x, T* y, std::int64_t n, const P& shift, const P& scale) {
  From in[8]{};
  T out[8];
  const int rest = static_cast<int>(n % 8);
  const std::int64_t whole = n - rest;
  const From* from = x;
  T* to = y;
  for (std::int64_t count = whole;;) {
    for (std::int64_t i = 0; i < count; i += 8) store(to + i, Part::of(load<8>(from + i), shift, scale));
    if (to == out || rest == 0) break;
    for (int i = 0; i < rest; ++i) in[i] = x[whole + i];
    from = in;
    to = out;
    count = 8;
  }
  for (int i = 0; i < rest; ++i) y[whole + i] = out[i];
}

/// The same by longer packs, of numbers that may be wider than their results.
template <class Part, int W>
struct map_row_of {
  template <class From, class T, class C = compute_t<From>>
  TAGMA_INLINE static void run(const From* x, T* y, std::int64_t n, C shift_by, C scale_by) {
    constexpr std::int64_t lanes = lanes_of<W>;
    const auto shift = broadcast<pack<C, W>>(shift_by), scale = broadcast<pack<C, W>>(scale_by);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(y + i, Part::of(load<W>(x + i), shift, scale));
    const int rest = static_cast<int>(n - i);
    if (rest > 0 && i > 0 && static_cast<const void*>(x) != y) {  // with elements that are computed twice
      store(y + n - lanes, Part::of(load<W>(x + n - lanes), shift, scale));
    } else if (rest > 0) {
      store(y + i, Part::of(load<W>(x + i, rest), shift, scale), rest);
    }
  }
};
template <class C>
inline constexpr int longest_pack = sizeof(C) == 8 ? wide_eight : wide_width;
template <class Part, class C>
using map_wide_row = with_wide<map_row_of<Part, default_width>, map_row_of<Part, longest_pack<C>>>;
template <class T>
using sums_of_wide_row = with_wide<row_sums<T, default_width>, row_sums<T, longest_pack<compute_t<T>>>>;

template <class T, row_kind Kind>
struct softmax_rows {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  using part = std::conditional_t<Kind == row_kind::softmax, scaled_part, logarithmic_part>;
  static constexpr bool is_widened = !std::is_same_v<T, C>;

  TAGMA_INLINE static void run(const T* x, T* y, std::int64_t rows, std::int64_t n) {
    if (n <= longest_turned)
      for (; rows >= 8; rows -= 8, x += 8 * n, y += 8 * n) eight(x, y, n);
    if constexpr (is_widened)
      if (n > longest_widened) return run_halves(x, y, rows, n);
    run_long(x, y, rows, n);
  }

 private:
  TAGMA_INLINE static C scale_of(C total) {
    return Kind == row_kind::softmax ? C(1) / total : static_cast<C>(lane(log(splat<P>(total)), 0));
  }
  TAGMA_INLINE static void run_long(const T* x, T* y, std::int64_t rows, std::int64_t n) {
    alignas(64) C values[is_widened ? std::size_t{longest_widened} : 1];
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      C top{}, total{};
      const C* from = nullptr;
      C* keep = nullptr;
      std::int64_t whole = n;
      if constexpr (is_widened) {
        dispatch<convert_elements>(x, static_cast<C*>(values), n);
        whole = (n + wide_width - 1) / wide_width * wide_width;  // behind a row is what adds nothing
        for (std::int64_t i = n; i < whole; ++i) values[i] = -__builtin_huge_valf();
        from = keep = values;
      } else {
        from = x, keep = y;
      }
      if constexpr (Kind != row_kind::softmax) keep = nullptr;
      dispatch<sums_of_wide_row<C>>(from, whole, &top, &total, keep);
      dispatch<map_wide_row<part, C>>(static_cast<const C*>(keep != nullptr ? keep : from), y, n, top, scale_of(total));
    }
  }
  /// Rows that are too long to be widened at once.
  TAGMA_INLINE static void run_halves(const T* x, T* y, std::int64_t rows, std::int64_t n) {
    using rest = std::conditional_t<Kind == row_kind::softmax, exponential_part, logarithmic_part>;
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      C top{}, total{};
      dispatch<row_sums<T>>(x, n, &top, &total, static_cast<T*>(nullptr));
      map_row<rest>(x, y, n, splat<P>(top), splat<P>(scale_of(total)));
    }
  }
  TAGMA_INLINE static void eight(const T* x, T* y, std::int64_t n) {
    eight_rows<T> rows;
    rows.read(x, n);
    if constexpr (Kind == row_kind::softmax)
      rows.template write<scaled_part>(rows.powers, y, n, rows.top, C(1) / rows.total);
    else
      rows.template write<logarithmic_part>(rows.turned, y, n, rows.top, log(rows.total));
  }
};

template <class Body, class T>
void over_rows(const kernel_args& args, const run_context& context) {
  const row_extents x(args.in[0].dims);
  const std::int64_t rows = x.rows, n = x.n;
  if (n == 0 || rows == 0) return;
  const std::int64_t per_task = 1 + 4096 / n, tasks = pieces(rows, per_task);
  const auto some = [&](std::int64_t t) __attribute__((noinline)) {
    const std::int64_t first = t * per_task, count = first + per_task < rows ? per_task : rows - first;
    dispatch<Body>(args.in[0].as<const T>() + first * n, args.out.as<T>() + first * n, count, n);
  };
  context.threads->parallel_for(tasks, some, tasks <= 4 ? runtime::helpers::awake : runtime::helpers::woken);
}

/// Rows and their labels, which threads share: so many of them at a time.
struct labelled_rows {
  const kernel_args& args;
  const std::int64_t rows, n, per_task;
};

/// Looks at the labels of all rows, and shares the rows among threads.
/// @param task does one part of the labelled rows that it gets
template <class Label>
TAGMA_COLD void over_labelled_rows(const kernel_args& args, const run_context& context,
                                   void (*task)(void*, std::int64_t)) {
  const row_extents x(args.in[0].dims);
  const Label* const labels = args.in[1].as<const Label>();
  for (std::int64_t r = 0; r < x.rows; ++r)
    if (const auto label = static_cast<std::int64_t>(labels[r]); label < 0 || label >= x.n)
      fail(status_code::out_of_range, {"label ", label, " of row ", r, " is not below the number of classes, ", x.n});
  labelled_rows all{args, x.rows, x.n, 8 + 4096 / (x.n + 1) / 8 * 8};
  const std::int64_t tasks = pieces(all.rows, all.per_task);
  context.threads->parallel_for(tasks, task, &all, tasks <= 4 ? runtime::helpers::awake : runtime::helpers::woken);
}

/// How cross entropies and their gradients find sums of rows. Of short ones, which programs that train have, packs for
/// AVX-512 would take longer to compile than they save.
template <class T, bool Few>
using sums_of_entropy = std::conditional_t<Few, row_sums<T>, sums_of_wide_row<T>>;

/// Up to eight rows.
template <class T, bool Few>
struct entropy_rows {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  template <class Label>
  TAGMA_INLINE static void run(const T* x, std::int64_t rows, std::int64_t n, const Label* labels, T* y) {
    C top[8], total[8]{};
    if (rows == 8 && n <= longest_turned) {
      eight_rows<T> eight;
      eight.read(x, n);
      store(top, eight.top);
      store(total, eight.total);
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        dispatch<sums_of_entropy<T, Few>>(x + r * n, n, top + r, total + r, static_cast<T*>(nullptr));
    }
    store(total, log(load<8>(static_cast<const C*>(total))));
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto label = static_cast<std::int64_t>(labels[r]);
      y[r] = T(total[r] - (static_cast<C>(x[r * n + label]) - top[r]));
    }
  }
};

template <class T, class Label, bool Few>
void some_cross_entropies(void* of, std::int64_t task) {
  const auto& [args, rows, n, per_task] = *static_cast<const labelled_rows*>(of);
  std::int64_t r = task * per_task;
  for (const std::int64_t end = r + per_task < rows ? r + per_task : rows; r < end; r += 8)
    dispatch<entropy_rows<T, Few>>(args.in[0].as<const T>() + r * n, end - r < 8 ? end - r : 8, std::int64_t{n},
                                   args.in[1].as<const Label>() + r, args.out.as<T>() + r);
}
/// @tparam Few of short rows, which are few or vary
template <class T, class Label, bool Few>
void sparse_cross_entropy(const kernel_args& args, const run_context& context) {
  over_labelled_rows<Label>(args, context, &some_cross_entropies<T, Label, Few>);
}

template <class T, bool Few>
struct entropy_gradient_row {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, std::int64_t label, C upstream, T* y) {
    C top{}, total{};
    T* const kept = kept_in(y);
    dispatch<sums_of_entropy<T, Few>>(x, n, &top, &total, kept);
    if constexpr (Few) {
      const P shift = splat<P>(top), scale = splat<P>(upstream / total);
      map_row<rest_of_softmax<T>>(kept != nullptr ? kept : x, y, n, shift, scale);
    } else {
      dispatch<map_wide_row<rest_of_softmax<T>, C>>(kept != nullptr ? kept : x, y, n, top, upstream / total);
    }
    y[label] = T(static_cast<C>(y[label]) - upstream);
  }
};

template <class T, class Label, bool Few>
void some_entropy_gradients(void* of, std::int64_t task) {
  const auto& [args, rows, n, per_task] = *static_cast<const labelled_rows*>(of);
  std::int64_t r = task * per_task;
  for (const std::int64_t end = r + per_task < rows ? r + per_task : rows; r < end; ++r)
    dispatch<entropy_gradient_row<T, Few>>(
        args.in[0].as<const T>() + r * n, std::int64_t{n}, static_cast<std::int64_t>(args.in[1].as<const Label>()[r]),
        static_cast<compute_t<T>>(args.in[2].as<const T>()[r]), args.out.as<T>() + r * n);
}
template <class T, class Label, bool Few>
void sparse_cross_entropy_gradient(const kernel_args& args, const run_context& context) {
  over_labelled_rows<Label>(args, context, &some_entropy_gradients<T, Label, Few>);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{
      &cpu::detail::over_rows<cpu::detail::softmax_rows<stored<Out>, cpu::detail::row_kind::softmax>, stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::log_softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{
      &cpu::detail::over_rows<cpu::detail::softmax_rows<stored<Out>, cpu::detail::row_kind::log_softmax>, stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::sparse_softmax_cross_entropy>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::sparse_cross_entropy<stored<Out>, stored<Label>, false>};
  /// A type of labels by default: whether there is such an entry is asked with that of the rows alone.
  template <dtype Out, dtype, dtype Label = dtype::uint8, dtype...>
  static constexpr kernel_entry few_entry{&cpu::detail::sparse_cross_entropy<stored<Out>, stored<Label>, true>};
};
template <>
struct kernel<on_cpu, ir::key<op::sparse_softmax_cross_entropy_gradient>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::sparse_cross_entropy_gradient<stored<Out>, stored<Label>, false>};
  template <dtype Out, dtype, dtype Label = dtype::uint8, dtype...>
  static constexpr kernel_entry few_entry{
      &cpu::detail::sparse_cross_entropy_gradient<stored<Out>, stored<Label>, true>};
};

}  // namespace tagma::device
