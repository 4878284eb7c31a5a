// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of replace_file.hpp: in the compiled half, or else in each file that includes it.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <cerrno>

#include "tagma/base/config.hpp"
#include "tagma/base/replace_file.hpp"

namespace tagma::detail {

TAGMA_DECL std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : std::string(path.substr(0, slash + 1));
}

TAGMA_DECL std::string follow_links(const std::string& path) {
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

TAGMA_DECL replacement::replacement(int directory, std::string_view name, mode_t mode, std::string_view path)
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

TAGMA_DECL replacement::~replacement() {
  if (!renamed_) (void)::unlinkat(directory_, name_.c_str(), 0);
}

TAGMA_DECL bool replacement::rename(const std::string& to) {
  return renamed_ = ::renameat(directory_, name_.c_str(), directory_, to.c_str()) == 0;
}

TAGMA_DECL bool replacement::lock(int file, int how) {
  int status = 0;
  do status = ::flock(file, how);
  while (status != 0 && errno == EINTR);
  return status == 0;
}

TAGMA_DECL bool replacement::is_named(int file) const {
  struct stat open {};
  struct stat named {};
  return ::fstat(file, &open) == 0 && ::fstatat(directory_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

TAGMA_DECL bool replacement::is_temporary(std::string_view name) const {
  if (!name.starts_with(stem_) || !name.ends_with(".tmp")) return false;
  name = name.substr(stem_.size(), name.size() - stem_.size() - 4);
  const std::size_t hyphen = name.find_first_not_of("0123456789");
  return hyphen != 0 && hyphen < name.size() && name[hyphen] == '-' && hyphen + 1 < name.size() &&
         name.find_first_not_of("0123456789", hyphen + 1) == name.npos;
}

TAGMA_DECL void replacement::remove_litter() {
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

TAGMA_DECL void copy_access(int to, const struct stat& from) {
  struct stat now {};
  mode_t mode = from.st_mode & 0777;
  if (::fstat(to, &now) != 0) return;
  const bool same = now.st_uid == from.st_uid && now.st_gid == from.st_gid;
  if (!same && ::fchown(to, from.st_uid, from.st_gid) != 0 && ::fchown(to, static_cast<uid_t>(-1), from.st_gid) != 0)
    mode &= ~mode_t{070} | (mode & 07) << 3;
  (void)::fchmod(to, mode);
}

TAGMA_DECL void write_all(int file, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const auto n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, path, "written");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

TAGMA_DECL bool flush(int file) {
  int status = 0;
  do status = ::fsync(file);
  while (status != 0 && errno == EINTR);
  return status == 0;
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL void replace_file(const std::string& path, std::span<const std::string_view> pieces) {
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
