// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What random numbers and initial values are made from, for kernels of all devices.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/runtime/initial_value.hpp"

namespace tagma::device {

/// The key of the random numbers of a node in a run.
/// @param run of the session, counted from 0. Keys count from 1: step 0 of every stream belongs to the initializers.
TAGMA_DEVICE random_key key_of_run(std::uint64_t seed, std::int32_t node, std::uint64_t run) {
  return {seed, static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(run + 1)};
}

/// Writes the initial value of a variable to memory of the host. It is the same in every run of a session, and on every
/// device.
inline void write_initial_value(std::byte* to, const kernel_args& args, const run_context& context) {
  runtime::write_initial_value(to, {args.out.type, args.out.dims}, args.attributes[0], args.value, 0,
                               {context.seed, static_cast<std::uint32_t>(args.attributes[1]), 0}, context.threads);
}

}  // namespace tagma::device
