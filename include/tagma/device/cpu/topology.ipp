// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of topology.hpp: in the compiled half, or else in each file that includes it.

#include <unistd.h>
#include <cstdlib>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/topology.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL int cpus_of_quota(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

TAGMA_COLD TAGMA_DECL int cpus_of_cpu_max(const char* content) {
  char* end = nullptr;
  const long long quota = std::strtoll(content, &end, 10);
  return end == content ? 0 : cpus_of_quota(quota, std::strtoll(end, nullptr, 10));
}

TAGMA_COLD TAGMA_DECL std::int64_t cpus_of_group(std::string_view root, std::string_view path, bool version1) {
  using tagma::detail::group_file;
  if (!version1) return cpus_of_cpu_max(group_file(root, "", path, "cpu.max").c_str());
  return cpus_of_quota(std::atoll(group_file(root, "/cpu", path, "cpu.cfs_quota_us").c_str()),
                       std::atoll(group_file(root, "/cpu", path, "cpu.cfs_period_us").c_str()));
}

TAGMA_COLD TAGMA_DECL int affinity_cpus() {
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

}  // namespace tagma::device::cpu::detail

namespace tagma::device::cpu {

TAGMA_COLD TAGMA_DECL int available_cpus() {
  int cpus = detail::affinity_cpus();
  if (cpus == 0) cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::int64_t quota = control_group_limit("cpu", &detail::cpus_of_group);
  if (quota > 0 && quota < cpus) cpus = static_cast<int>(quota);
  return cpus > 0 ? cpus : 1;
}

}  // namespace tagma::device::cpu
