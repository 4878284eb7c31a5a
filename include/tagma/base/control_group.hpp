// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the control groups of Linux allow a process: limits that a container sets. docs.kernel.org,
/// admin-guide/cgroup-v2 and cgroup-v1.

#include <cstdint>
#include <string_view>

#include "tagma/base/config.hpp"

namespace tagma {

namespace detail {

/// The content of a small file, at most 16 KiB; nothing where it cannot be read.
class small_file {
 public:
  explicit small_file(const char* path);
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }
  [[nodiscard]] const char* c_str() const { return text_; }

 private:
  char text_[16384]{};
  std::size_t size_ = 0;
};

/// Takes from `text` what is in front of the first `separator`, or all of it.
std::string_view take_field(std::string_view& text, char separator);

/// The path of the group that has a controller, from the content of /proc/self/cgroup.
/// @param version1 receives whether a version 1 hierarchy has it
std::string_view group_with(std::string_view controller, std::string_view content, bool& version1);

/// A file of the group `path` in the hierarchy that is mounted at `root` and `folder`.
small_file group_file(std::string_view root, const char* folder, std::string_view path, const char* name);

/// The limit that one group sets, 0 for none.
using limit_of_group = std::int64_t (*)(std::string_view root, std::string_view path, bool version1);

/// The tightest limit of the group of a controller and its ancestors; 0 where there is none.
/// @param groups content of /proc/self/cgroup
/// @param root   where the control groups are mounted
std::int64_t tightest_limit(std::string_view controller, limit_of_group limit_of, std::string_view groups,
                            std::string_view root);

/// Bytes that a group may take; "max", nonsense and more than fits are none.
std::int64_t memory_of_group(std::string_view root, std::string_view path, bool version1);

}  // namespace detail

/// The tightest limit that the control groups of this process set; 0 where there is none, or no control groups.
[[nodiscard]] std::int64_t control_group_limit(std::string_view controller, detail::limit_of_group limit_of);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/control_group.ipp"
#endif
