// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Replacing a file so that a crash leaves either the old file or the new one, and nothing else that lasts.

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <span>
#include <string>
#include <string_view>

#include "tagma/base/file.hpp"

namespace tagma {

namespace detail {

/// "a/b/" of "a/b/c", "./" of "c".
[[nodiscard]] std::string directory_of(std::string_view path);

/// Where a path leads to if its last part is a link, or a link to a link.
[[nodiscard]] std::string follow_links(const std::string& path);

/// A file beside the one that it will replace. It is locked as long as its maker lives: one that is not locked was left
/// behind by a process that died, and whoever replaces the same file next removes it.
class replacement {
 public:
  /// @param directory an open directory
  /// @param name of the file to be replaced
  /// @param mode for `open`
  replacement(int directory, std::string_view name, mode_t mode, std::string_view path);
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;
  ~replacement();

  [[nodiscard]] int get() const { return file_.get(); }
  [[nodiscard]] bool rename(const std::string& to);

 private:
  [[nodiscard]] static bool lock(int file, int how);
  /// Whether an open file is still the one of this name.
  [[nodiscard]] bool is_named(int file) const;
  /// Stem, digits, a hyphen, digits, ".tmp".
  [[nodiscard]] bool is_temporary(std::string_view name) const;
  void remove_litter();

  int directory_;
  std::string stem_, name_;
  descriptor file_{-1};
  bool renamed_ = false;
};

/// Gives a file the owner, group and mode of another one, as far as the process may. A group that cannot be had gets no
/// more than everybody.
void copy_access(int to, const struct stat& from);

void write_all(int file, std::string_view bytes, std::string_view path);

/// Whether all of an open file or directory is on the disk.
[[nodiscard]] bool flush(int file);

}  // namespace detail

/// Replaces the file at `path` by the pieces, one after the other. They are written to a temporary file in the same
/// directory, flushed to the disk and renamed; then the directory is flushed. Whoever opens `path` finds the old
/// content or the new one, also after a crash. If anything fails before the renaming, the temporary file is removed and
/// the old file stays; a process that is killed leaves one that the next replacement of `path` removes. A link is
/// followed, and an old file's mode is kept, its owner and group where the process may set them. Throws `not_found` if
/// there is no such directory, `invalid_argument` if there is something at `path` that is no regular file, and
/// `permission_denied`, `resource_exhausted` and so on; each names the path.
void replace_file(const std::string& path, std::span<const std::string_view> pieces);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/replace_file.ipp"
#endif
