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
#include <string_view>

namespace tagma::device::cpu {

namespace detail {

/// The content of a small file, at most 16 KiB; nothing where it cannot be read.
class small_file {
 public:
  TAGMA_COLD explicit small_file(const char* path) {
    if (std::FILE* file = std::fopen(path, "r")) {
      size_ = std::fread(text_, 1, sizeof text_ - 1, file);
      std::fclose(file);
    }
  }
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }
  [[nodiscard]] const char* c_str() const { return text_; }

 private:
  char text_[16384]{};
  std::size_t size_ = 0;
};

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

/// Takes from `text` what is in front of the first `separator`, or all of it.
TAGMA_COLD inline std::string_view take_field(std::string_view& text, char separator) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != separator) ++size;
  const std::string_view field(text.data(), size);
  text.remove_prefix(size < text.size() ? size + 1 : size);
  return field;
}

/// The path of the group that has the cpu controller, from the content of /proc/self/cgroup.
/// @param version1 receives whether a version 1 hierarchy has it
TAGMA_COLD inline std::string_view cpu_cgroup(std::string_view content, bool& version1) {
  std::string_view unified;
  version1 = false;
  while (!content.empty()) {
    std::string_view path = take_field(content, '\n');
    take_field(path, ':');  // the number of the hierarchy
    std::string_view controllers = take_field(path, ':');
    if (path.empty()) continue;
    if (controllers.empty()) unified = path;
    while (!controllers.empty()) {
      if (take_field(controllers, ',') != "cpu") continue;
      version1 = true;
      return path;
    }
  }
  return unified;
}

/// A file of the group `path` in the hierarchy that is mounted at `root` and `folder`.
TAGMA_COLD inline small_file group_file(std::string_view root, const char* folder, std::string_view path,
                                        const char* name) {
  char text[4096];
  std::snprintf(text, sizeof text, "%.*s%s%.*s/%s", static_cast<int>(root.size()), root.data(), folder,
                static_cast<int>(path.size()), path.data(), name);
  return small_file(text);
}

/// The tightest cpu limit of the group and its ancestors; 0 where there is none.
/// @param groups content of /proc/self/cgroup
/// @param root   where the control groups are mounted
TAGMA_COLD inline int cgroup_cpus(std::string_view groups, std::string_view root) {
  bool version1 = false;
  std::string_view path = cpu_cgroup(groups, version1);
  int limit = 0;
  // A container often sees the path of its host, which does not exist in its own mount: the root is always tried too.
  for (;;) {
    while (!path.empty() && path.back() == '/') path.remove_suffix(1);
    int cpus = 0;
    if (version1)
      cpus = cpus_of_quota(std::atoll(group_file(root, "/cpu", path, "cpu.cfs_quota_us").c_str()),
                           std::atoll(group_file(root, "/cpu", path, "cpu.cfs_period_us").c_str()));
    else
      cpus = cpus_of_cpu_max(group_file(root, "", path, "cpu.max").c_str());
    if (cpus > 0 && (limit == 0 || cpus < limit)) limit = cpus;
    if (path.empty()) return limit;
    while (!path.empty() && path.back() != '/') path.remove_suffix(1);
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
  const int quota = detail::cgroup_cpus(detail::small_file("/proc/self/cgroup").view(), "/sys/fs/cgroup");
  if (quota > 0 && quota < cpus) cpus = quota;
#endif
  return cpus > 0 ? cpus : 1;
}

}  // namespace tagma::device::cpu
