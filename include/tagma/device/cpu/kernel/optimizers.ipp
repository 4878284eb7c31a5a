// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of optimizers.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL void scheduled_rate(const kernel_args& args, const run_context&) {
  *args.out.as<double>() = evaluate(*args.value, static_cast<double>(*args.in[0].as<const std::int64_t>()));
}

}  // namespace tagma::device::cpu::detail
