// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs what computes a convolution of floats, without a kernel around it.

#include "tagma/device/cpu/kernel/conv_problem.hpp"

namespace tagma::test {

/// @param images of this call: all, or those behind `first` of `all`
inline void run_convolution(device::cpu::detail::image_convolution& one, const float* a, const float* b,
                            const float* bias, float* out, std::int64_t images, const runtime::run_context& context,
                            std::int64_t first = 0, std::int64_t all = 0) {
  runtime::operand operands[1];
  operands[0].dims = shape{images, 1, 1, 1};
  runtime::kernel_args args;
  args.in = operands;
  args.all = all, args.first = first;
  one.run(a, b, bias, out, args, context);
}

}  // namespace tagma::test
