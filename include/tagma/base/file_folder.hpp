// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Folders: what is in one, and how there comes to be one.

#include <string>
#include <vector>

#include "tagma/base/config.hpp"

namespace tagma {

namespace detail {

/// What is in a folder.
struct folder_names {
  std::vector<std::string> names{};  ///< in order, "." and ".." among them
  int problem = 0;                   ///< the `errno` why it cannot be read; then there are no names
};
[[nodiscard]] folder_names list_folder(const std::string& path);

/// Makes a folder, and those above it, unless it is there. Throws what the system says, with the path.
void make_folders(const std::string& path);

}  // namespace detail
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/file_folder.ipp"
#endif
