// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of updates_of_run.hpp: in the compiled half, or else in each file that includes it.

#include <set>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/heap_room.hpp"
#include "tagma/cluster/updates_of_run.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/shuffle.hpp"
#include "tagma/graph/pass/prune.hpp"

namespace tagma {

namespace detail {

/// Whether a node changes what outlives a run.
[[nodiscard]] TAGMA_DECL bool changes_state(const ir::graph_view& g, ir::node_id i) {
  const ir::op_info& op = g.info(i);
  if (op.is(ir::op_kind::update) || op.is(ir::op_kind::optimizer)) return true;
  if (!op.has_step()) return false;
  for (const ir::node_id k : g.inputs(i))
    if (g.info(k).is(ir::op_kind::resource)) return true;
  // These are stateful since two of them are never one.
  for (const ir::op_info* const harmless :
       {&ir::info<op::send>, &ir::info<op::receive>, &ir::info<op::receive_open>, &ir::info<op::random_uniform>,
        &ir::info<op::random_normal>, &ir::info<op::truncated_normal>, &ir::info<op::random_permutation>})
    if (g[i].op->info == harmless) return false;
  return op.stateful;
}

}  // namespace detail

TAGMA_DECL std::string updates_of_run(const ir::graph_view& g, array_view<const int> outputs) {
  std::vector<ir::node_id> roots;
  for (const int o : outputs) roots.push_back(g.roots[o]);
  const auto needs = ir::prune<heap_room>(g, roots);
  std::set<std::string> names;
  for (ir::node_id i = 0; i < g.size(); ++i)
    if (ir::wants_value(needs[i]) && detail::changes_state(g, i))
      names.insert(g.info(i).is(ir::op_kind::update) ? std::string(g[g.inputs(i)[0]].name)
                                                     : std::string(g.info(i).name));
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > 8) return text + " and more";
    append_parts(text, {text.empty() ? "'" : ", '", name, "'"});
  }
  return text;
}

TAGMA_DECL bool has_state(const ir::graph_view& g) {
  for (ir::node_id i = 0; i < g.size(); ++i)
    if (g.info(i).is(ir::op_kind::variable) || g.info(i).is(ir::op_kind::resource)) return true;
  return false;
}

}  // namespace tagma
