// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How many processors this process may keep busy.

#include "tagma/base/config.hpp"

#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include "tagma/base/control_group.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Whole processors in a quota of `quota` microseconds per `period`, rounded up; 0 where there is no limit.
TAGMA_COLD inline int cpus_of_quota(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

/// The limit in the content of a version 2 `cpu.max`: "max 100000" or "150000 100000"; 0 where there is none.
TAGMA_COLD inline int cpus_of_cpu_max(const char* content) {
  char* end = nullptr;
  const long long quota = std::strtoll(content, &end, 10);
  return end == content ? 0 : cpus_of_quota(quota, std::strtoll(end, nullptr, 10));
}

/// The processors that a group may keep busy, 0 for any number.
TAGMA_COLD inline std::int64_t cpus_of_group(std::string_view root, std::string_view path, bool version1) {
  using tagma::detail::group_file;
  if (!version1) return cpus_of_cpu_max(group_file(root, "", path, "cpu.max").c_str());
  return cpus_of_quota(std::atoll(group_file(root, "/cpu", path, "cpu.cfs_quota_us").c_str()),
                       std::atoll(group_file(root, "/cpu", path, "cpu.cfs_period_us").c_str()));
}

/// The processors in the affinity mask of this thread; 0 where the system has no such mask.
TAGMA_COLD inline int affinity_cpus() {
#if defined(__linux__)
  unsigned long mask[1024] = {};
  if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return 0;
  int count = 0;
  for (const unsigned long word : mask) count += __builtin_popcountl(word);
  return count;
#else
  return 0;
#endif
}

}  // namespace detail

/// The number of processors that this process may keep busy: those in the affinity mask of the calling thread, or a
/// smaller quota of its control group (version 1 or 2), rounded up. At least 1.
[[nodiscard]] TAGMA_COLD inline int available_cpus() {
  int cpus = detail::affinity_cpus();
  if (cpus == 0) cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::int64_t quota = control_group_limit("cpu", &detail::cpus_of_group);
  if (quota > 0 && quota < cpus) cpus = static_cast<int>(quota);
  return cpus > 0 ? cpus : 1;
}

}  // namespace tagma::device::cpu
