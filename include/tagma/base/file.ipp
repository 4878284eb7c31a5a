// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of file.hpp: in the compiled half, or else in each file that includes it.

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL void fail_errno(int number, std::string_view path, std::string_view cannot) {
  fail(code_of_errno(number),
       std::string(path) + ": cannot be " + std::string(cannot) + ": " + std::generic_category().message(number));
}

}  // namespace tagma

namespace tagma::detail {

TAGMA_DECL descriptor& descriptor::operator=(descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

TAGMA_DECL descriptor::~descriptor() {
  if (number_ >= 0) (void)::close(number_);
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL input_file::input_file(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (descriptor_.get() < 0 || ::fstat(descriptor_.get(), &status) != 0) fail_errno(errno, path_, "opened");
  if (!S_ISREG(status.st_mode)) fail(status_code::invalid_argument, path_ + ": is not a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

TAGMA_DECL std::size_t input_file::read_some(void* target, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const auto n = ::read(descriptor_.get(), static_cast<char*>(target) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, path_, "read");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

TAGMA_DECL void input_file::read(void* target, std::size_t bytes) {
  const std::size_t done = read_some(target, bytes);
  if (done < bytes) fail(status_code::data_loss, path_ + ": ends " + std::to_string(bytes - done) + " bytes too early");
}

TAGMA_DECL void input_file::seek(std::uint64_t position) {
  if (::lseek(descriptor_.get(), static_cast<off_t>(position), SEEK_SET) < 0) fail_errno(errno, path_, "read");
}

TAGMA_DECL output_file::output_file(std::string path)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666)) {
  if (descriptor_.get() < 0) fail_errno(errno, path_, "created");
}

TAGMA_DECL void output_file::write(const void* bytes, std::size_t size) {
  for (auto* at = static_cast<const char*>(bytes); size > 0;) {
    const auto n = ::write(descriptor_.get(), at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, path_, "written");
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

TAGMA_DECL std::string read_file(const std::string& path) {
  input_file file(path);
  std::string content(static_cast<std::size_t>(file.size()), '\0');
  file.read(content.data(), content.size());
  return content;
}

}  // namespace tagma
