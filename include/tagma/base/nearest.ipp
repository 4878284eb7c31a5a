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

/// How many edits there are at least: letters that one name has more of than the other are left out or replaced.
TAGMA_COLD TAGMA_DECL std::size_t least_edits(std::string_view a, std::string_view b) {
  std::ptrdiff_t more[256] = {};
  for (const char c : a) ++more[static_cast<unsigned char>(c)];
  for (const char c : b) --more[static_cast<unsigned char>(c)];
  std::size_t added = 0, left_out = 0;
  for (const std::ptrdiff_t m : more) (m > 0 ? left_out : added) += static_cast<std::size_t>(m > 0 ? m : -m);
  return std::max(added, left_out);
}

// Those that may be nearest come first, so that the others need not be compared, and none behind so many comparisons of
// letters, a tenth of a second.
TAGMA_COLD TAGMA_DECL std::string nearest_text(std::string_view name, std::vector<std::string_view> known) {
  if (known.empty()) return "; there are none";
  constexpr std::size_t most_comparisons = std::size_t{1} << 25, told = 3;
  const auto contains = [](std::string_view all, std::string_view part) {
    return !part.empty() && all.find(part) != std::string_view::npos;
  };
  // Names of files may be long: what differs by a kilobyte need not be told apart.
  const auto head = [](std::string_view of) { return of.substr(0, 256); };
  const std::string_view wanted = head(name);
  std::vector<std::pair<std::size_t, std::size_t>> all;  // the least edits of a name, and which it is
  std::vector<std::pair<std::size_t, std::string_view>> found;
  all.reserve(known.size());
  for (const std::string_view k : known) {
    const std::size_t least = least_edits(wanted, head(k)), longer = std::max(wanted.size(), head(k).size());
    // What contains the other has all of its letters.
    const bool may_be_part = least == longer - std::min(wanted.size(), head(k).size());
    const bool part = may_be_part && (contains(head(k), wanted) || contains(wanted, head(k)));
    all.emplace_back(least + (part ? 0 : 512), all.size());
  }
  std::sort(all.begin(), all.end());
  std::size_t comparisons = 0;
  for (const auto& [least, position] : all) {
    if (found.size() == told && (least > found.back().first || comparisons > most_comparisons)) break;
    const std::string_view k = known[position];
    comparisons += wanted.size() * head(k).size();
    found.emplace_back(edits_between(wanted, head(k)) + (least < 512 ? 0 : 512), k);
    std::sort(found.begin(), found.end());
    if (found.size() > told) found.pop_back();
  }
  const auto end = found.end();
  std::string text = end - found.begin() == 1 ? "; the nearest is '" : "; the nearest are '";
  for (auto i = found.begin(); i != end; ++i)
    append_parts(text, {i == found.begin() ? "" : i + 1 == end ? "' and '" : "', '", i->second});
  return text + "'";
}

}  // namespace tagma::detail
