// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Files that options name, and secrets that are in some.

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "refusal.hpp"

namespace tagma::tools {

using open_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] inline void refuse_file(std::string_view option, const std::string& path, int error_number) {
  refuse(exit_status::usage, {option, ": cannot read '", path, "': ", std::generic_category().message(error_number)});
}

/// Refuses a file that cannot be opened.
[[nodiscard]] inline open_file opened(std::string_view option, const std::string& path) {
  open_file file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) refuse_file(option, path, errno);
  return file;
}

/// What stands in a file that an option names, without the ends of lines behind it. Refuses a file that cannot be read,
/// and one that is empty.
[[nodiscard]] inline std::string secret_in(std::string_view option, const std::string& path) {
  const open_file file = opened(option, path);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 1; n > 0; text.append(part.data(), n)) n = std::fread(part.data(), 1, part.size(), file.get());
  if (std::ferror(file.get()) != 0) refuse_file(option, path, errno);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) refuse(exit_status::usage, {option, ": '", path, "' is empty"});
  return text;
}

}  // namespace tagma::tools
