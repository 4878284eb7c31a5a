// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of state.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/state.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL void assign(const kernel_args& args, const run_context&) {
  const std::size_t bytes = args.out.bytes();
  if (bytes > 0) std::memcpy(args.out.data, args.in[1].data, bytes);
}

TAGMA_COLD TAGMA_DECL void initialize(const kernel_args& args, const run_context& context) {
  write_initial_value(args.out.data, args, context);
}

}  // namespace tagma::device::cpu::detail
