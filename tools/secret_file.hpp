// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Secrets that are in files.

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "refusal.hpp"

namespace tagma::tools {

/// What stands in a file that an option names, without the ends of lines behind it. Refuses a file that cannot be read,
/// and one that is empty.
[[nodiscard]] inline std::string secret_in(std::string_view option, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 1; file != nullptr && n > 0; text.append(part.data(), n))
    n = std::fread(part.data(), 1, part.size(), file.get());
  if (file == nullptr || std::ferror(file.get()) != 0) {
    const int number = errno;
    refuse(exit_status::usage, {option, ": cannot read '", path, "': ", std::generic_category().message(number)});
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) refuse(exit_status::usage, {option, ": '", path, "' is empty"});
  return text;
}

}  // namespace tagma::tools
