// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Variables of one name that are two: a file of all variables could not have both.

#include "tagma/graph/build.hpp"

namespace tagma::ir {

/// A name that two variables of a finished graph have; empty if there is none. A slot of an optimizer is called like
/// its variable with "/adam_m" behind, and so may be another variable. A variable has two slots of one name if two
/// optimizers of a kind give them initial values of their own. A variable may be called like the step of an optimizer
/// and begin in another way. Variables of one name and several types are refused earlier.
[[nodiscard]] constexpr std::string_view find_shared_name(const graph_view& g) {
  scratch_array<node_id, 1> found(g.nodes.size());
  std::size_t count = 0;
  for (node_id i = 0; i < g.size(); ++i)
    if (g.info(i).is(op_kind::variable)) found[count++] = i;
  const auto variables = found.view().first(count);

  struct slots {
    std::string_view suffix;
    std::int32_t value = -1;  // the initial one, where the optimizer gives it
  };
  slots kinds[16]{};
  std::size_t kind_count = 0;
  for (const node_id i : variables) {
    std::size_t k = 0;
    while (k < kind_count && (kinds[k].suffix != g[i].suffix || kinds[k].value != g[i].value)) ++k;
    if (!g[i].suffix.empty() && k == kind_count && k < 16) kinds[kind_count++] = {g[i].suffix, g[i].value};
  }
  for (const node_id i : variables) {
    const node& n = g[i];
    for (std::size_t k = 0; k < kind_count; ++k) {
      const auto [suffix, value] = kinds[k];
      std::string_view owner = n.name;
      if (n.suffix.empty() && n.name.ends_with(suffix))
        owner.remove_suffix(suffix.size());
      else if (n.suffix != suffix || n.value == value)
        continue;
      for (const node_id j : variables)
        if (g[j].suffix == suffix && g[j].value == value && g[j].name == owner) return n.name;
    }
    if (!n.suffix.empty() || !detail::is_called_like_step(n.spec, n.name)) continue;
    for (const node_id j : variables)
      if (j != i && g[j].suffix.empty() && g[j].name == n.name) return n.name;
  }
  return {};
}

}  // namespace tagma::ir
