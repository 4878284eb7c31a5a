// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Repetition on the CPU.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/expr/op/concat.hpp"

namespace tagma::device {
namespace cpu::detail {

/// The extent of the last axis; 1 for a scalar.
[[nodiscard]] inline std::int64_t row_length(const shape& dims) { return dims.rank == 0 ? 1 : dims[dims.rank - 1]; }

/// Goes over rows of a repetition, which run along the last axis, and tells which row of the input each repeats.
/// Without divisions, which take longer than copying a short row.
class repeated_rows {
 public:
  repeated_rows(const shape& in, const shape& out, std::int64_t first);
  [[nodiscard]] std::int64_t row() const { return row_; }
  /// How many rows of the input, with this one, are repeated one after the other.
  [[nodiscard]] std::int64_t neighbours() const;
  /// To the row behind `count` neighbours.
  void next(std::int64_t count);

 private:
  const shape &in_, &out_;
  std::int64_t row_ = 0;
  std::int64_t at_[max_rank]{}, from_[max_rank]{};  // in the result and in the input
};

void tile(const kernel_args& args, const run_context& context);

/// How often rows of the part are repeated along the axes before the last one.
[[nodiscard]] std::int64_t repetitions_of_rows(const kernel_args& args);

/// Where repetition `k` of row `row` of the part is in the whole, in rows.
[[nodiscard]] std::int64_t repeated_row(const kernel_args& args, std::int64_t row, std::int64_t k);

/// Rows `first` to `last` of the sums of repetitions: those of one element in the order in which they lie in memory.
/// Where there are more elements in memory, what a pack holds beyond the end of a row is computed as well, and the next
/// row is written over it.
template <class T>
struct tile_gradient_body {
  using C = compute_t<T>;
  static constexpr std::int64_t room = 256;
  TAGMA_INLINE static void run(const kernel_args* args, std::int64_t first, std::int64_t last) {
    const std::int64_t n = row_length(args->out.dims), copies = row_length(args->in[0].dims) / n;
    const std::int64_t repetitions = repetitions_of_rows(*args), all = args->in[0].elements();
    for (std::int64_t row = first; row < last; ++row)
      for (std::int64_t left = 0; left < n; left += room) {
        const std::int64_t rest = n - left < room ? n - left : room, whole = (rest + 7) / 8 * 8;
        const std::int64_t last_at =
            repetitions == 1 ? row : repeated_row(*args, row, repetitions - 1);  // the greatest of all
        const bool more = row * n + left + whole <= last * n && ((last_at + 1) * copies - 1) * n + left + whole <= all;
        const std::int64_t count = more ? whole : rest;
        T* const to = args->out.as<T>() + row * n + left;
        C wide[room];
        C* sums = wide;
        if constexpr (std::is_same_v<T, C>) sums = to;
        for (std::int64_t k = 0; k < repetitions; ++k) {
          const std::int64_t at = repetitions == 1 ? row : repeated_row(*args, row, k);
          add(sums, args->in[0].as<const T>() + at * copies * n + left, n, copies, count, k == 0);
        }
        if constexpr (!std::is_same_v<T, C>) convert_elements::run(static_cast<const C*>(sums), to, count);
      }
  }
  TAGMA_INLINE static void add(C* sums, const T* from, std::int64_t n, std::int64_t copies, std::int64_t count,
                               bool begin) {
    std::int64_t c = 0;
    for (; c + 8 <= count; c += 8) {
      pack<C, 8> s{};
      if (!begin) s = load<8>(sums + c);
      for (std::int64_t i = 0; i < copies; ++i) s = s + load<8>(from + i * n + c);
      store(sums + c, s);
    }
    for (; c < count; ++c) {
      C s{};
      if (!begin) s = sums[c];
      for (std::int64_t i = 0; i < copies; ++i) s += static_cast<C>(from[i * n + c]);
      sums[c] = s;
    }
  }
};

template <class T>
void tile_gradient(const kernel_args& args, const run_context& context) {
  if (args.out.elements() == 0) return;
  const std::int64_t rows = args.out.elements() / row_length(args.out.dims);
  over_pieces(rows, static_cast<std::int64_t>(args.in[0].bytes()) / rows, context,
              [&](std::int64_t first, std::int64_t last) { dispatch<tile_gradient_body<T>>(&args, first, last); });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::tile>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::tile};
};
template <>
struct kernel<on_cpu, ir::key<op::tile_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::tile_gradient<stored<Out>>};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/concat.ipp"
#endif
