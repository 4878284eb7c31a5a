// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of file_folder.hpp: in the compiled half, or else in each file that includes it.

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/file_folder.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL folder_names list_folder(const std::string& path) {
  struct open_folder {
    DIR* stream;
    ~open_folder() {
      if (stream != nullptr) ::closedir(stream);
    }
  };
  folder_names found;
  const open_folder folder{::opendir(path.c_str())};
  if (folder.stream == nullptr) {
    found.problem = errno;
    return found;
  }
  while (const dirent* const entry = ::readdir(folder.stream))
    found.names.emplace_back(static_cast<const char*>(entry->d_name));
  std::sort(found.names.begin(), found.names.end());
  return found;
}

TAGMA_COLD TAGMA_DECL void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat status {};
    if (!part.empty() && ::mkdir(part.c_str(), 0777) != 0 &&
        (errno != EEXIST || ::stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)))
      fail_errno(errno, part, "made");
    if (end == std::string::npos) return;
  }
}

}  // namespace tagma::detail
