// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue_list.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/queue_list.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL const operand& chosen_queue(const kernel_args& args) {
  const operand& index = args.in[0];
  const std::int64_t i = index.type == dtype::int32 ? *index.as<const std::int32_t>() : *index.as<const std::int64_t>();
  const std::int64_t count = args.attributes[0];
  if (i < 0 || i >= count)
    fail(status_code::invalid_argument, {"the index ", i, " is not in [0, ", count, "), the places of the queues"});
  return args.in[static_cast<std::size_t>(1 + i)];
}

}  // namespace tagma::device::cpu::detail
