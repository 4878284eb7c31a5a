// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How many processors this process may keep busy.

#include "tagma/base/config.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include "tagma/base/control_group.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Whole processors in a quota of `quota` microseconds per `period`, rounded up; 0 where there is no limit.
int cpus_of_quota(long long quota, long long period);

/// The limit in the content of a version 2 `cpu.max`: "max 100000" or "150000 100000"; 0 where there is none.
int cpus_of_cpu_max(const char* content);

/// The processors that a group may keep busy, 0 for any number.
std::int64_t cpus_of_group(std::string_view root, std::string_view path, bool version1);

/// The processors in the affinity mask of this thread; 0 where the system has no such mask.
int affinity_cpus();

}  // namespace detail

/// The number of processors that this process may keep busy: those in the affinity mask of the calling thread, or a
/// smaller quota of its control group (version 1 or 2), rounded up. At least 1.
[[nodiscard]] int available_cpus();

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/topology.ipp"
#endif
