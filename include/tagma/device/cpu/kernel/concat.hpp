// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Repetition on the CPU.

#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
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
  void next();

 private:
  const shape &in_, &out_;
  std::int64_t row_ = 0;
  std::int64_t at_[max_rank]{}, from_[max_rank]{};  // in the result and in the input
};

void tile(const kernel_args& args, const run_context& context);

/// A row of sums, wider than the elements where those have 16 bits.
template <class T>
struct tile_sums final : kernel_state {
  heap_array<compute_t<T>> row;
};

template <class T>
owned<kernel_state> prepare_tile_gradient(const kernel_args& args, const run_context&) {
  auto state = make_owned<tile_sums<T>>();
  state->row = heap_array<compute_t<T>>(row_length(args.out.dims));
  return state;
}

template <class T>
void tile_gradient(const kernel_args& args, const run_context&) {
  const shape &part = args.out.dims, &whole = args.in[0].dims;
  if (args.out.elements() == 0) return;
  auto& sums = static_cast<tile_sums<T>*>(args.state)->row;
  const std::int64_t n = row_length(part), long_row = row_length(whole);
  const std::int64_t rows = args.out.elements() / n;
  std::int64_t repetitions = 1;
  for (int a = 0; a < part.rank - 1; ++a) repetitions *= args.attributes[a];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (auto& s : sums) s = 0;
    for (std::int64_t k = 0; k < repetitions; ++k) {
      std::int64_t rest = row, copy = k, at = 0, stride = 1;
      for (int a = part.rank - 2; a >= 0; --a) {
        const std::int64_t multiple = args.attributes[a];
        at += (rest % part[a] + copy % multiple * part[a]) * stride;
        rest /= part[a];
        copy /= multiple;
        stride *= whole[a];
      }
      const T* from = args.in[0].as<const T>() + at * long_row;
      for (std::int64_t i = 0; i < long_row; i += n)
        for (std::int64_t c = 0; c < n; ++c) sums[c] += static_cast<compute_t<T>>(from[i + c]);
    }
    for (std::int64_t c = 0; c < n; ++c) args.out.as<T>()[row * n + c] = T(sums[c]);
  }
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
  static constexpr kernel_entry entry{&cpu::detail::tile_gradient<stored<Out>>,
                                      &cpu::detail::prepare_tile_gradient<stored<Out>>};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/concat.ipp"
#endif
