// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What this program was compiled with, for reports of errors and of measurements.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/version.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/topology.hpp"

namespace tagma {

/// One line: the version, the compiler, the library behind matrix products, the instruction set that loops use on this
/// machine, the threads that a session starts by default, and the optional parts that are compiled in.
[[nodiscard]] std::string build_info();

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/build_info.ipp"
#endif
