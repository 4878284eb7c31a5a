// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Columns for a terminal, and numbers as people read them.

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "refusal.hpp"

namespace tagma::tools::ctl {

/// Rows below a head, in columns as wide as what is in them.
class table {
 public:
  explicit table(std::vector<std::string> head) { add(std::move(head)); }

  void add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = printable(cell);
    rows_.push_back(std::move(row));
  }
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }

  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c == widths.size()) widths.push_back(0);
        if (row[c].size() > widths[c]) widths[c] = row[c].size();
      }
    std::string all;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c) {
        line += row[c];
        if (c + 1 < row.size()) line.append(widths[c] - row[c].size() + 2, ' ');
      }
      all.append(line) += '\n';
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "1.5 MiB".
[[nodiscard]] inline std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(units)) size /= 1024, ++unit;
  char text[40];
  (void)std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
  return text;
}

/// "1.5 ms", "3 d 4 h".
[[nodiscard]] inline std::string time_text(std::int64_t ns) {
  char text[60];
  const auto s = static_cast<double>(ns) / 1e9;
  const auto whole = static_cast<long long>(s);
  if (ns < 1'000'000)
    (void)std::snprintf(text, sizeof text, "%.0f us", s * 1e6);
  else if (ns < 1'000'000'000)
    (void)std::snprintf(text, sizeof text, "%.1f ms", s * 1e3);
  else if (whole < 120)
    (void)std::snprintf(text, sizeof text, "%.1f s", s);
  else if (whole < 7200)
    (void)std::snprintf(text, sizeof text, "%lld min", whole / 60);
  else if (whole < 172'800)
    (void)std::snprintf(text, sizeof text, "%lld h %lld min", whole / 3600, whole / 60 % 60);
  else
    (void)std::snprintf(text, sizeof text, "%lld d %lld h", whole / 86'400, whole / 3600 % 24);
  return text;
}

/// Sixteen digits of a number that somebody drew.
[[nodiscard]] inline std::string hex_text(std::uint64_t n) {
  char text[20];
  (void)std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
  return text;
}

/// At most six digits.
[[nodiscard]] inline std::string real_text(double x) {
  char text[40];
  (void)std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

}  // namespace tagma::tools::ctl
