// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A directory for the files of one test.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace tagma::test {

/// An empty directory, gone with all that is in it when the object is.
struct temporary_directory {
  std::filesystem::path path;

  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "tagma-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
    path = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() { std::filesystem::remove_all(path); }

  [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
  /// Names of what is in it.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) names.insert(entry.path().filename().string());
    return names;
  }
  /// Writes a file, in directories that are made where they are missing.
  void put(const char* name, std::string_view content) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
  }
};

/// Such a directory, which is the one of the process as long as the object lives.
struct working_directory {
  temporary_directory folder;
  std::filesystem::path before = std::filesystem::current_path();

  working_directory() { std::filesystem::current_path(folder.path); }
  working_directory(const working_directory&) = delete;
  working_directory& operator=(const working_directory&) = delete;
  ~working_directory() {
    std::error_code ignored;
    std::filesystem::current_path(before, ignored);
  }
};

}  // namespace tagma::test
