// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of parts.hpp: in the compiled half, or else in each file that includes it.

#include <set>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/plan/parts.hpp"

namespace tagma {

TAGMA_DECL any_program program_of_part(const any_program& whole, const ir::graph_part& part) {
  std::vector<carried> values;
  std::vector<const carried*> parts;
  for (const std::int32_t number : part.values) values.emplace_back(*whole.values().find(number));
  for (const carried& v : values) parts.push_back(&v);
  const ir::graph_view g = part.graph.view();
  std::vector<std::string> names;
  for (std::size_t r = 0; r < g.roots.size(); ++r)
    names.push_back(part.outputs[r] >= 0 ? sentence({"output_", part.outputs[r]})
                                         : sentence({"edge_", g.attributes(g.roots[r])[0]}));
  const std::vector<std::string_view> called(names.begin(), names.end());
  return {g, parts.empty() ? carried() : carried::join(parts), whole.soft(), called};
}

TAGMA_DECL std::vector<std::vector<int>> outputs_of_parts(const ir::cut_graph& cut, array_view<const int> outputs,
                                                          array_view<const std::vector<ir::node_id>> fed) {
  std::vector<owned<detail::fed_part>> parts;
  std::vector<std::set<int>> wanted(cut.parts.size());
  std::vector<bool> asked(cut.parts.size());
  for (std::size_t p = 0; p < cut.parts.size(); ++p) {
    const ir::graph_part& part = cut.parts[p];
    parts.push_back(make_owned<detail::fed_part>(
        part, fed.empty() ? array_view<const ir::node_id>{} : array_view<const ir::node_id>(fed[p])));
    for (const int output : outputs)
      for (std::size_t r = 0; r < part.outputs.size(); ++r)
        if (part.outputs[r] == output) wanted[p].insert(static_cast<int>(r)), asked[p] = true;
  }
  for (bool again = true; again;) {
    again = false;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (!asked[p]) continue;
      asked[p] = false;
      for (const std::int32_t e : parts[p]->edges_of(wanted[p])) {
        const ir::cut_edge& edge = cut.edges[static_cast<std::size_t>(e)];
        const auto from = static_cast<std::size_t>(edge.from);
        if (wanted[from].insert(edge.send).second) again = asked[from] = true;
      }
    }
  }
  std::vector<std::vector<int>> result;
  for (const std::set<int>& w : wanted) result.emplace_back(w.begin(), w.end());
  return result;
}

}  // namespace tagma
