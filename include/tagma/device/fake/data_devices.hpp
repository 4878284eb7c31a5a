// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fake GPUs for sessions of programs that are data.

#include "tagma/base/config.hpp"
#include "tagma/device/fake/accelerator.hpp"
#include "tagma/device/kernel_then_loop.hpp"
#include "tagma/runtime/device_kind.hpp"

namespace tagma {

/// Fake GPUs, on which a session of a program that is data places what it may:
///
///     tagma::session session(data, {.seed = 3}, tagma::fake_gpus());
///
/// The devices are those of the machine that is current in the thread that makes the session.
[[nodiscard]] TAGMA_COLD inline const runtime::device_kind& fake_gpus() {
  static constexpr runtime::device_kind kind{{"GPU", [](const ir::op_info&) { return true; }, &device::begins_loop},
                                             [](const gpu_options& options) -> owned<runtime::accelerator> {
                                               gpu_options growing = options;
                                               growing.allow_growth = true;  // memory of a fake device is the host's
                                               return make_owned<device::fake::accelerator>(
                                                   device::fake::machine::current(), growing);
                                             }};
  return kind;
}

}  // namespace tagma
