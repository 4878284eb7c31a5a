// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Replacing a file so that a crash leaves either the old file or the new one, and nothing else that lasts.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tagma/base/file.hpp"

namespace tagma {

namespace detail {

/// "a/b/" of "a/b/c", "./" of "c".
[[nodiscard]] inline std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : std::string(path.substr(0, slash + 1));
}

/// Where a path leads to if its last part is a link, or a link to a link.
[[nodiscard]] inline std::string follow_links(const std::string& path) {
  std::string at = path;
  for (int links = 0; links < 40; ++links) {  // as many as Linux follows
    char text[PATH_MAX];
    const auto length = ::readlink(at.c_str(), text, sizeof text);
    if (length < 0) return at;
    const std::string_view to(text, static_cast<std::size_t>(length));
    at = to.starts_with('/') ? std::string(to) : directory_of(at).append(to);
  }
  fail_errno(ELOOP, path, "replaced");
}

/// A file beside the one that it will replace. It is locked as long as its maker lives: one that is not locked was left
/// behind by a process that died, and whoever replaces the same file next removes it.
class replacement {
 public:
  /// @param directory an open directory
  /// @param name of the file to be replaced
  /// @param mode for `open`
  replacement(int directory, std::string_view name, mode_t mode, std::string_view path)
      : directory_(directory), stem_(name.substr(0, 200)) {  // 255 bytes is the most for a name
    stem_ += ".tagma-";
    remove_litter();
    static std::atomic<unsigned> counter{0};
    while (true) {
      name_ = stem_ + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
      file_ = descriptor(::openat(directory_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      if (file_.get() < 0 && errno == EEXIST) continue;
      if (file_.get() < 0) fail_errno(errno, path, "created");
      (void)lock(file_.get(), LOCK_EX);  // without locks, nobody removes what others have
      struct stat made {};
      if (::fstat(file_.get(), &made) != 0 || made.st_nlink > 0) return;  // else taken for litter before it was locked
    }
  }
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;
  ~replacement() {
    if (!renamed_) (void)::unlinkat(directory_, name_.c_str(), 0);
  }

  [[nodiscard]] int get() const { return file_.get(); }
  [[nodiscard]] bool rename(const std::string& to) {
    return renamed_ = ::renameat(directory_, name_.c_str(), directory_, to.c_str()) == 0;
  }

 private:
  [[nodiscard]] static bool lock(int file, int how) {
    int status = 0;
    do status = ::flock(file, how);
    while (status != 0 && errno == EINTR);
    return status == 0;
  }
  /// Whether an open file is still the one of this name.
  [[nodiscard]] bool is_named(int file) const {
    struct stat open {};
    struct stat named {};
    return ::fstat(file, &open) == 0 && ::fstatat(directory_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  }
  /// Stem, digits, a hyphen, digits, ".tmp".
  [[nodiscard]] bool is_temporary(std::string_view name) const {
    if (!name.starts_with(stem_) || !name.ends_with(".tmp")) return false;
    name = name.substr(stem_.size(), name.size() - stem_.size() - 4);
    const std::size_t hyphen = name.find_first_not_of("0123456789");
    return hyphen != 0 && hyphen < name.size() && name[hyphen] == '-' && hyphen + 1 < name.size() &&
           name.find_first_not_of("0123456789", hyphen + 1) == name.npos;
  }
  void remove_litter() {
    const int number = ::openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const list = number < 0 ? nullptr : ::fdopendir(number);
    if (list == nullptr) return;
    while (const dirent* const entry = ::readdir(list)) {
      name_ = entry->d_name;
      if (!is_temporary(name_)) continue;
      constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
      descriptor found(::openat(directory_, name_.c_str(), O_RDWR | flags));  // some file systems lock no others
      if (found.get() < 0) found = descriptor(::openat(directory_, name_.c_str(), O_RDONLY | flags));
      if (found.get() >= 0 && lock(found.get(), LOCK_EX | LOCK_NB) && is_named(found.get()))
        (void)::unlinkat(directory_, name_.c_str(), 0);
    }
    ::closedir(list);
  }

  int directory_;
  std::string stem_, name_;
  descriptor file_{-1};
  bool renamed_ = false;
};

/// Gives a file the owner, group and mode of another one, as far as the process may. A group that cannot be had gets no
/// more than everybody.
inline void copy_access(int to, const struct stat& from) {
  struct stat now {};
  mode_t mode = from.st_mode & 0777;
  if (::fstat(to, &now) != 0) return;
  const bool same = now.st_uid == from.st_uid && now.st_gid == from.st_gid;
  if (!same && ::fchown(to, from.st_uid, from.st_gid) != 0 && ::fchown(to, static_cast<uid_t>(-1), from.st_gid) != 0)
    mode &= ~mode_t{070} | (mode & 07) << 3;
  (void)::fchmod(to, mode);
}

inline void write_all(int file, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const auto n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, path, "written");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Whether all of an open file or directory is on the disk.
[[nodiscard]] inline bool flush(int file) {
  int status = 0;
  do status = ::fsync(file);
  while (status != 0 && errno == EINTR);
  return status == 0;
}

}  // namespace detail

/// Replaces the file at `path` by the pieces, one after the other. They are written to a temporary file in the same
/// directory, flushed to the disk and renamed; then the directory is flushed. Whoever opens `path` finds the old
/// content or the new one, also after a crash. If anything fails before the renaming, the temporary file is removed and
/// the old file stays; a process that is killed leaves one that the next replacement of `path` removes. A link is
/// followed, and an old file's mode is kept, its owner and group where the process may set them. Throws `not_found` if
/// there is no such directory, `invalid_argument` if there is something at `path` that is no regular file, and
/// `permission_denied`, `resource_exhausted` and so on; each names the path.
inline void replace_file(const std::string& path, std::span<const std::string_view> pieces) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) fail(status_code::invalid_argument, {path, ": is not a regular file"});
  const std::string target = detail::follow_links(path), directory = detail::directory_of(target),
                    name = target.substr(target.rfind('/') + 1);
  const detail::descriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0) fail_errno(errno, path, "created: directory " + directory);
  if (name.empty()) fail(status_code::invalid_argument, {"'", path, "' is not the name of a file"});

  detail::replacement temporary(parent.get(), name, exists ? 0600 : 0666, path);
  for (const std::string_view piece : pieces) detail::write_all(temporary.get(), piece, path);
  if (exists) detail::copy_access(temporary.get(), old);
  if (!detail::flush(temporary.get())) fail_errno(errno, path, "flushed to the disk");
  if (!temporary.rename(name)) fail_errno(errno, path, "replaced");
  // EINVAL: a file system that cannot flush directories, and needs no flush.
  if (!detail::flush(parent.get()) && errno != EINVAL) fail_errno(errno, directory, "flushed to the disk");
}

}  // namespace tagma
