// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of matmul.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL half_product::half_product(const kernel_args& args, bool widens)
    : values(!widens ? 0 : args.in[0].elements() + args.in[1].elements() + args.out.elements()),
      in{args.in[0], args.in[1]},
      wide(args) {
  if (!widens) return;
  in[0] = {reinterpret_cast<std::byte*>(values.data()), dtype::float32, in[0].dims};
  in[1] = {in[0].data + 4 * args.in[0].elements(), dtype::float32, in[1].dims};
  wide.out = {in[1].data + 4 * args.in[1].elements(), dtype::float32, wide.out.dims};
  wide.in = in;
}

}  // namespace tagma::device::cpu::detail
