// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of nearest.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/nearest.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

TAGMA_COLD TAGMA_DECL std::string nearest_text(std::string_view name, std::vector<std::string_view> known) {
  if (known.empty()) return "; there are none";
  const auto contains = [](std::string_view all, std::string_view part) {
    return !part.empty() && all.find(part) != std::string_view::npos;
  };
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view k : known) {
    const bool part = contains(k, name) || contains(name, k);
    // Names of files may be long: what differs by a kilobyte need not be told apart.
    const std::size_t edits = edits_between(name.substr(0, 256), k.substr(0, 256));
    found.emplace_back(part ? edits : edits + 512, k);
  }
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(found.size(), 3));
  std::partial_sort(found.begin(), end, found.end());
  std::string text = end - found.begin() == 1 ? "; the nearest is '" : "; the nearest are '";
  for (auto i = found.begin(); i != end; ++i)
    append_parts(text, {i == found.begin() ? "" : i + 1 == end ? "' and '" : "', '", i->second});
  return text + "'";
}

}  // namespace tagma::detail
