// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of control_group.hpp: in the compiled half, or else in each file that includes it.

#include <cstdio>
#include <cstdlib>

#include "tagma/base/config.hpp"
#include "tagma/base/control_group.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL small_file::small_file(const char* path) {
  if (std::FILE* file = std::fopen(path, "r")) {
    size_ = std::fread(text_, 1, sizeof text_ - 1, file);
    std::fclose(file);
  }
}

TAGMA_COLD TAGMA_DECL std::string_view take_field(std::string_view& text, char separator) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != separator) ++size;
  const std::string_view field(text.data(), size);
  text.remove_prefix(size < text.size() ? size + 1 : size);
  return field;
}

TAGMA_COLD TAGMA_DECL std::string_view group_with(std::string_view controller, std::string_view content,
                                                  bool& version1) {
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

TAGMA_COLD TAGMA_DECL small_file group_file(std::string_view root, const char* folder, std::string_view path,
                                            const char* name) {
  char text[4096];
  std::snprintf(text, sizeof text, "%.*s%s%.*s/%s", static_cast<int>(root.size()), root.data(), folder,
                static_cast<int>(path.size()), path.data(), name);
  return small_file(text);
}

TAGMA_COLD TAGMA_DECL std::int64_t tightest_limit(std::string_view controller, limit_of_group limit_of,
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

TAGMA_COLD TAGMA_DECL std::int64_t memory_of_group(std::string_view root, std::string_view path, bool version1) {
  return std::atoll(
      (version1 ? group_file(root, "/memory", path, "memory.limit_in_bytes") : group_file(root, "", path, "memory.max"))
          .c_str());
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL std::int64_t control_group_limit(std::string_view controller, detail::limit_of_group limit_of) {
#if defined(__linux__)
  return detail::tightest_limit(controller, limit_of, detail::small_file("/proc/self/cgroup").view(), "/sys/fs/cgroup");
#else
  static_cast<void>(controller);
  static_cast<void>(limit_of);
  return 0;
#endif
}

}  // namespace tagma
