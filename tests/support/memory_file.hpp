// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A file in memory, for what reads files.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tagma::test {

/// A regular file without a name; gone with this object.
class memory_file {
 public:
  explicit memory_file(std::string_view content) : file_(::memfd_create("test", MFD_CLOEXEC)) {
    if (file_ >= 0 && ::write(file_, content.data(), content.size()) == static_cast<ssize_t>(content.size())) return;
    std::perror("memory_file");
    std::abort();
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(file_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace tagma::test
