// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reading files, and writing them from the beginning; replace_file.hpp replaces one as a whole.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

/// The status code that says what an `errno` says.
[[nodiscard]] constexpr status_code code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return status_code::not_found;
    case EEXIST:
      return status_code::already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return status_code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return status_code::resource_exhausted;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return status_code::invalid_argument;
    case EIO:
      return status_code::data_loss;
    default:
      return status_code::unknown;
  }
}

/// Throws "path: cannot be opened: No such file or directory" and the like, with the code of an `errno`.
/// @param cannot what could not be done, behind "cannot be": "opened"
[[noreturn]] void fail_errno(int number, std::string_view path, std::string_view cannot);

namespace detail {

/// An open descriptor; closed at the end of its life.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor();

  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

}  // namespace detail

/// A regular file that is read from its beginning to its end.
class input_file {
 public:
  /// Opens the file. Throws `not_found`, `permission_denied` and so on; `invalid_argument` for a directory or a device.
  explicit input_file(std::string path);

  /// The path, as it was given.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Bytes of the file when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Reads the next `bytes` bytes or, where the file ends, fewer; returns how many.
  [[nodiscard]] std::size_t read_some(void* target, std::size_t bytes);
  /// Reads the next `bytes` bytes. Throws `data_loss` if the file ends before.
  void read(void* target, std::size_t bytes);
  /// The next read begins at this byte.
  void seek(std::uint64_t position);

 private:
  std::string path_;
  detail::descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// A file that is written from its beginning to its end. What was there is gone, and a crash leaves a part.
class output_file {
 public:
  /// Makes the file, or empties it. Throws `not_found`, `permission_denied` and so on.
  explicit output_file(std::string path);

  /// The path, as it was given.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Throws `resource_exhausted` for a full disk and so on.
  void write(const void* bytes, std::size_t size);

 private:
  std::string path_;
  detail::descriptor descriptor_;
};

/// The whole content of a regular file. Throws as `input_file` does.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/file.ipp"
#endif
