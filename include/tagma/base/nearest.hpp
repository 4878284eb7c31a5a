// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Names that resemble one that is not known, for errors.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"

namespace tagma::detail {

/// How many letters have to be added, left out or replaced to make one name of the other.
[[nodiscard]] std::size_t edits_between(std::string_view a, std::string_view b);

/// "; the nearest are 'a', 'b' and 'c'": at most three of the known names, those that contain the name or are contained
/// in it before others, then those with the fewest edits. "; there are none" if nothing is known.
[[nodiscard]] std::string nearest_text(std::string_view name, std::vector<std::string_view> known);

}  // namespace tagma::detail

#ifndef TAGMA_COMPILED
#include "tagma/base/nearest.ipp"
#endif
