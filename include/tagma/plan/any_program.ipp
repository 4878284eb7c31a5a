// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of any_program.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL std::string name_of_output(const ir::graph_view& g, std::size_t i) {
  const ir::node& n = g[g.roots[i]];
  return n.name.empty() || n.op->info->is(ir::op_kind::update) ? sentence({"output_", i})
                                                               : sentence({n.name, n.suffix});
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL any_program::any_program(const ir::graph_view& graph, const carried& values, bool soft,
                                    array_view<const std::string_view> names)
    : shared_(new detail::shared_program) {
  detail::shared_program& to = *shared_;
  to.graph = ir::heap_graph(graph);
  to.values = values;
  to.soft = soft;
  name_outputs(names);
}

TAGMA_DECL int any_program::find_output(std::string_view name) const {
  const auto found = shared_->positions.find(name);
  return found == shared_->positions.end() ? -1 : found->second;
}

TAGMA_DECL std::int64_t any_program::peak_bytes(extent batch) const {
  const plan::heap_site site(graph(), soft());
  const plan::planned_heap_graph planned(graph());
  return plan::heap_plan(planned, planned.view().roots, site.view()).peak_bytes(batch);
}

TAGMA_DECL void any_program::name_outputs(array_view<const std::string_view> names) {
  const ir::graph_view g = graph();
  if (!names.empty() && names.size() != g.roots.size())
    fail(status_code::invalid_argument, {"any_program: ", names.size(), " names for ", g.roots.size(), " outputs"});
  std::vector<std::string>& own = shared_->outputs;
  own.reserve(g.roots.size());  // no name moves
  for (std::size_t i = 0; i < g.roots.size(); ++i) {
    own.push_back(names.empty() ? detail::name_of_output(g, i) : std::string(names[i]));
    std::string& name = own.back();
    const auto put = [&] { return shared_->positions.try_emplace(name, static_cast<int>(i)).second; };
    if (put()) continue;
    if (!names.empty()) fail(status_code::invalid_argument, {"any_program: two outputs are called ", name});
    for (name = sentence({"output_", i}); !put();) name += '_';
  }
}

}  // namespace tagma
