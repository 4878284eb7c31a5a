// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How many processors this process may keep busy.

#include "tagma/base/config.hpp"

#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tagma::device::cpu {

namespace detail {

/// The content of a small file, or nothing where it cannot be read.
TAGMA_COLD inline std::string read_small_file(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "r")) {
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    std::fclose(file);
  }
  return text;
}

/// Whole processors in a quota of `quota` microseconds per `period`, rounded up; 0 where there is no limit.
TAGMA_COLD inline int cpus_of_quota(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

/// The limit in the content of a version 2 `cpu.max`: "max 100000" or "150000 100000"; 0 where there is none.
TAGMA_COLD inline int cpus_of_cpu_max(const std::string& content) {
  char* end = nullptr;
  const long long quota = std::strtoll(content.c_str(), &end, 10);
  return end == content.c_str() ? 0 : cpus_of_quota(quota, std::strtoll(end, nullptr, 10));
}

/// The path of the group that has the cpu controller, from the content of /proc/self/cgroup.
/// @param version1 receives whether a version 1 hierarchy has it
TAGMA_COLD inline std::string cpu_cgroup(std::string_view content, bool& version1) {
  std::string unified;
  version1 = false;
  while (!content.empty()) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(line.size() < content.size() ? line.size() + 1 : line.size());
    const auto first = line.find(':');
    const auto second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view path = line.substr(second + 1);
    std::string controllers(",");
    controllers.append(line.substr(first + 1, second - first - 1)).append(",");
    if (controllers == ",,") unified = path;
    if (controllers.find(",cpu,") != std::string::npos) {
      version1 = true;
      return std::string(path);
    }
  }
  return unified;
}

/// The tightest cpu limit of the group and its ancestors; 0 where there is none.
/// @param groups content of /proc/self/cgroup
/// @param root   where the control groups are mounted
TAGMA_COLD inline int cgroup_cpus(const std::string& groups, const std::string& root) {
  bool version1 = false;
  std::string path = cpu_cgroup(groups, version1);
  int limit = 0;
  // A container often sees the path of its host, which does not exist in its own mount: the root is always tried too.
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    int cpus = 0;
    if (version1) {
      const std::string folder = root + "/cpu" + path;
      cpus = cpus_of_quota(std::atoll(read_small_file(folder + "/cpu.cfs_quota_us").c_str()),
                           std::atoll(read_small_file(folder + "/cpu.cfs_period_us").c_str()));
    } else {
      cpus = cpus_of_cpu_max(read_small_file(root + path + "/cpu.max"));
    }
    if (cpus > 0 && (limit == 0 || cpus < limit)) limit = cpus;
    if (path.empty()) return limit;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
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
#if defined(__linux__)
  const int quota = detail::cgroup_cpus(detail::read_small_file("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (quota > 0 && quota < cpus) cpus = quota;
#endif
  return cpus > 0 ? cpus : 1;
}

}  // namespace tagma::device::cpu
