// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices besides CPUs, for tests of programs that are data: those of a program that defines
/// `devices_of_this_program`, else none.

#include "tagma/runtime/device_kind.hpp"

namespace tagma::test {

[[gnu::weak]] const runtime::device_kind& devices_of_this_program();

/// nullptr: there are CPUs alone.
[[nodiscard]] inline const runtime::device_kind* other_devices() {
  return &devices_of_this_program != nullptr ? &devices_of_this_program() : nullptr;
}

}  // namespace tagma::test
