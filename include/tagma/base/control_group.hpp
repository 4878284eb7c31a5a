// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the control groups of Linux allow a process: limits that a container sets. docs.kernel.org,
/// admin-guide/cgroup-v2 and cgroup-v1.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tagma/base/config.hpp"

namespace tagma {

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

/// Takes from `text` what is in front of the first `separator`, or all of it.
TAGMA_COLD inline std::string_view take_field(std::string_view& text, char separator) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != separator) ++size;
  const std::string_view field(text.data(), size);
  text.remove_prefix(size < text.size() ? size + 1 : size);
  return field;
}

/// The path of the group that has a controller, from the content of /proc/self/cgroup.
/// @param version1 receives whether a version 1 hierarchy has it
TAGMA_COLD inline std::string_view group_with(std::string_view controller, std::string_view content, bool& version1) {
  std::string_view unified;
  version1 = false;
  while (!content.empty()) {
    std::string_view path = take_field(content, '\n');
    take_field(path, ':');  // the number of the hierarchy
    std::string_view controllers = take_field(path, ':');
    if (path.empty()) continue;
    if (controllers.empty()) unified = path;
    while (!controllers.empty()) {
      if (take_field(controllers, ',') != controller) continue;
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

/// The limit that one group sets, 0 for none.
using limit_of_group = std::int64_t (*)(std::string_view root, std::string_view path, bool version1);

/// The tightest limit of the group of a controller and its ancestors; 0 where there is none.
/// @param groups content of /proc/self/cgroup
/// @param root   where the control groups are mounted
TAGMA_COLD inline std::int64_t tightest_limit(std::string_view controller, limit_of_group limit_of,
                                              std::string_view groups, std::string_view root) {
  bool version1 = false;
  std::string_view path = group_with(controller, groups, version1);
  std::int64_t tightest = 0;
  // A container often sees the path of its host, which does not exist in its own mount: the root is always tried too.
  for (;;) {
    while (!path.empty() && path.back() == '/') path.remove_suffix(1);
    const std::int64_t limit = limit_of(root, path, version1);
    if (limit > 0 && (tightest == 0 || limit < tightest)) tightest = limit;
    if (path.empty()) return tightest;
    while (!path.empty() && path.back() != '/') path.remove_suffix(1);
  }
}

/// Bytes that a group may take; "max", nonsense and more than fits are none.
TAGMA_COLD inline std::int64_t memory_of_group(std::string_view root, std::string_view path, bool version1) {
  return std::atoll(
      (version1 ? group_file(root, "/memory", path, "memory.limit_in_bytes") : group_file(root, "", path, "memory.max"))
          .c_str());
}

}  // namespace detail

/// The tightest limit that the control groups of this process set; 0 where there is none, or no control groups.
[[nodiscard]] TAGMA_COLD inline std::int64_t control_group_limit(std::string_view controller,
                                                                 detail::limit_of_group limit_of) {
#if defined(__linux__)
  return detail::tightest_limit(controller, limit_of, detail::small_file("/proc/self/cgroup").view(), "/sys/fs/cgroup");
#else
  static_cast<void>(controller);
  static_cast<void>(limit_of);
  return 0;
#endif
}

}  // namespace tagma
