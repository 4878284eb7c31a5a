// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The files that workers of input read. Each writes its own, with the content that input_files.py writes.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tagma/io/compression.hpp"
#include "tagma/io/tf_record.hpp"

namespace peers {

inline constexpr int rows_of_file = 100'000, columns = 10;

/// A file that is gone when this is.
struct input_file {
  explicit input_file(const char* name)
      : path(std::filesystem::temp_directory_path() / ("tagma_peers_" + std::to_string(getpid()) + name)) {}
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  [[nodiscard]] std::string name() const { return path.string(); }
  std::filesystem::path path;
};

/// Rows of numbers with six digits.
inline void write_csv(const input_file& to) {
  std::ofstream out(to.path);
  std::string line;
  for (std::int64_t row = 0; row < rows_of_file; ++row) {
    line.clear();
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t bits = (row * 7919 + c * 104729) % 1000003;
      char text[32];
      std::snprintf(text, sizeof text, "%s%.6f", c == 0 ? "" : ",", static_cast<double>(bits) / 1000.0 - 500.0);
      line += text;
    }
    out << line << '\n';
  }
}

/// Records of a hundred bytes.
inline void write_tf_record(const input_file& to) {
  tagma::io::tf_record_writer out(tagma::io::create(to.name()));
  std::string record(100, ' ');
  for (std::int64_t row = 0; row < rows_of_file; ++row) {
    for (std::size_t i = 0; i < record.size(); ++i)
      record[i] = static_cast<char>((row * 31 + static_cast<std::int64_t>(i) * 17) % 251);
    out.write(record);
  }
  out.close();
}

}  // namespace peers
