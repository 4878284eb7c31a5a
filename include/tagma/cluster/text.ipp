// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of text.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/limits.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL std::string quote(std::string_view text) {
  constexpr std::size_t most = 120;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && byte < 0x80)
      out += c;
    else
      (out += "\\x") += {digits[byte >> 4], digits[byte & 15u]};
  }
  return out += text.size() > most ? "...\"" : "\"";
}

TAGMA_DECL std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

TAGMA_DECL std::int64_t number_between(std::string_view text, std::int64_t low, std::int64_t high,
                                       std::string_view where) {
  const std::optional<std::int64_t> value = whole_number(text);
  if (!value || *value < low || *value > high)
    fail(status_code::invalid_argument, {where, ": ", quote(text), " is not a whole number from ", low, " to ", high});
  return *value;
}

TAGMA_DECL std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

TAGMA_DECL std::vector<std::string_view> comma_list(std::string_view text, std::string_view where) {
  std::vector<std::string_view> entries;
  if (trimmed(text).empty()) return entries;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = text.find(',', begin);
    const std::string_view entry = trimmed(text.substr(begin, comma - begin));
    if (entry.empty())
      fail(status_code::invalid_argument, {where, ": entry ", entries.size(), " of ", quote(text), " is empty"});
    if (entries.size() == static_cast<std::size_t>(cluster_limits::tasks))
      fail(status_code::invalid_argument, {where, ": has more than ", cluster_limits::tasks, " entries"});
    entries.push_back(entry);
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  return entries;
}

TAGMA_DECL std::string enumerated(const std::vector<std::string>& names) {
  constexpr std::size_t most = 16;
  const std::size_t shown = names.size() > most ? most - 1 : names.size();
  std::string out;
  for (std::size_t i = 0; i < shown; ++i)
    append_parts(out, {i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]});
  if (shown < names.size()) append_parts(out, {" and ", names.size() - shown, " more"});
  return out;
}

}  // namespace tagma::detail
