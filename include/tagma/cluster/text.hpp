// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What all who read descriptions of clusters share: numbers, lists, and texts of strangers in sentences.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::detail {

/// A text in quotes for a sentence: what a terminal would take for a command is spelt out as `\x1b`, and of long texts
/// the beginning is shown.
[[nodiscard]] std::string quote(std::string_view text);

/// A whole number of decimal digits and nothing else, of 18 digits at most; leading zeros do not count.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

/// The number that a text must be. Throws `invalid_argument`, which names `where`, unless it is between the bounds.
[[nodiscard]] std::int64_t number_between(std::string_view text, std::int64_t low, std::int64_t high,
                                          std::string_view where);

/// What stands between commas, without blanks around it. An empty text has nothing. Throws `invalid_argument`, which
/// names `where`, for an entry that is empty and for more entries than a cluster has tasks.
[[nodiscard]] std::vector<std::string_view> comma_list(std::string_view text, std::string_view where);

/// A text without blanks and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// "a", "a and b", "a, b and c"; of many the first ones, and how many more there are.
[[nodiscard]] std::string enumerated(const std::vector<std::string>& names);

}  // namespace tagma::detail

#ifndef TAGMA_COMPILED
#include "tagma/cluster/text.ipp"
#endif
