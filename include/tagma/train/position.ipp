// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of position.hpp: in the compiled half, or else in each file that includes it.

#include <charconv>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/train/position.hpp"

namespace tagma {

TAGMA_DECL std::string position_text(const std::vector<std::int64_t>& at) {
  std::string text;
  for (const std::int64_t number : at) text += sentence({text.empty() ? "" : " ", number});
  return text;
}

TAGMA_DECL std::vector<std::int64_t> position_of_text(std::string_view text) {
  std::vector<std::int64_t> at;
  const char* from = text.data();
  const char* const end = from + text.size();
  while (from != end) {
    if (!at.empty() && *from++ != ' ') break;
    std::int64_t number = 0;
    const auto [behind, problem] = std::from_chars(from, end, number);
    if (problem != std::errc()) break;
    at.push_back(number);
    from = behind;
  }
  if (from != end || position_text(at) != text)
    fail(status_code::invalid_argument,
         {"'", text, "' is no position of a dataset: that is whole numbers with a space between them"});
  return at;
}

}  // namespace tagma
