// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What is known while a graph is built: which node a record became, and whose a name is.

#include "tagma/graph/scopes.hpp"

namespace tagma::ir::detail {

/// Remembers the node of each record and the record of each name; with scopes, of each record in each chain.
template <bool Scoped>
struct record_memo {
  array_view<const record*> records;
  array_view<node_id> nodes;  ///< one more than the node; 0 in an empty slot
  array_view<const record*> names;
  array_view<bool> named;
  array_view<chain_id> chains;
  array_view<std::string_view> texts;
  std::size_t count = 0;

  [[nodiscard]] constexpr std::size_t slot(const record& r, chain_id chain) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (records.size() - 1);
    if constexpr (Scoped) {
      i = (i + 7 * static_cast<std::size_t>(chain)) & (records.size() - 1);
      while (nodes[i] != 0 && (records[i] != &r || chains[i] != chain)) i = (i + 1) & (records.size() - 1);
    } else {
      while (nodes[i] != 0 && records[i] != &r) i = (i + 1) & (records.size() - 1);
    }
    return i;
  }
  [[nodiscard]] constexpr node_id find(const record& r, chain_id chain) const { return nodes[slot(r, chain)] - 1; }
  constexpr void set(const record& r, chain_id chain, node_id id) {
    const std::size_t i = slot(r, chain);
    records[i] = &r;
    nodes[i] = id + 1;
    if constexpr (Scoped) chains[i] = chain, ++count;
  }
  /// The record that has this name, which is `r` if the name is new.
  constexpr const record& owner_of_name(const record& r, std::string_view name) {
    std::size_t i = static_cast<std::size_t>(hash_text(name)) & (names.size() - 1);
    while (named[i] && name_at(i) != name) i = (i + 1) & (names.size() - 1);
    if (!named[i]) {
      names[i] = &r, named[i] = true;
      if constexpr (Scoped) texts[i] = name;
    }
    return *names[i];
  }
  [[nodiscard]] constexpr std::string_view name_at(std::size_t i) const {
    if constexpr (Scoped)
      return texts[i];
    else
      return names[i]->name;
  }
};
static_assert(no_node == -1);

}  // namespace tagma::ir::detail
