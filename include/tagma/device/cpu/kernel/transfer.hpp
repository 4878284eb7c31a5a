// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Copies between devices whose memory the host can read, and what stands behind a kept value.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::device {

template <>
struct kernel<on_cpu, ir::key<plan::transfer>> {
  static void run(const kernel_args& args, const run_context& context) {
    if (args.out.elements() == 0) return;
    const auto size = static_cast<std::int64_t>(size_of(args.out.type));
    cpu::over_pieces(args.out.elements(), size, context, [&](std::int64_t first, std::int64_t last) {
      std::memcpy(args.out.data + first * size, args.in[0].data + first * size,
                  static_cast<std::size_t>((last - first) * size));
    });
  }

  template <dtype, dtype>
  static constexpr kernel_entry entry{&run};
};

template <>
struct kernel<on_cpu, ir::key<ir::keep>> {
  template <dtype, dtype>
  static constexpr kernel_entry entry{&kernel<on_cpu, ir::key<plan::transfer>>::run};
};

}  // namespace tagma::device
