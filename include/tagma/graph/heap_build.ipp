// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of heap_build.hpp: in the compiled half, or else in each file that includes it.

#include <iterator>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/graph/build.hpp"
#include "tagma/graph/heap_build.hpp"

namespace tagma::ir {

TAGMA_DECL heap_tables::heap_tables(const graph_view& g) {
  const auto fits = [&](std::size_t room) {
    return g.nodes.size() <= room && g.edges.size() <= 4 * room && g.attribute_pool.size() <= 4 * room &&
           g.back_edges.size() <= room / 2;
  };
  std::size_t room = 64;
  while (!fits(room) && room < most_heap_nodes) room *= 2;
  if (!fits(room) || g.requests.size() > std::size(built_.requests) || g.loops.size() > std::size(built_.loops))
    fail(status_code::resource_exhausted, {"passes: a graph of ", g.nodes.size(), " nodes, ", g.requests.size(),
                                           " devices and ", g.loops.size(), " loops is larger than a process builds"});
  built_.allocate(room, g.roots.size());
  const auto copy = [](auto* to, const auto& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    return static_cast<int>(from.size());
  };
  built_.nodes = copy(built_.storage.nodes.data(), g.nodes);
  built_.edges = copy(built_.storage.edges.data(), g.edges);
  built_.attributes = copy(built_.storage.attributes.data(), g.attribute_pool);
  copy(built_.roots.data(), g.roots);
  built_.request_count = copy(built_.requests, g.requests);
  built_.loop_count = copy(built_.loops, g.loops);
  built_.back_edge_count = copy(built_.back_edges.data(), g.back_edges);
  copy(built_.loop_of.data(), g.loop_of);
  scoped_ = g.requests.size() > 0, looped_ = g.loops.size() > 0;
}

TAGMA_DECL void heap_tables::rewrite(void (*pass)(rewriter&)) {
  std::size_t expected = 64;
  while (expected < static_cast<std::size_t>(built_.nodes) + static_cast<std::size_t>(built_.nodes) / 4) expected *= 2;
  built_ = in_enough_room(expected, [&](std::size_t room) {
    return ir::rewrite<heap_room, heap_room, heap_room, true, true>(built_, pass, room);
  });
}

TAGMA_DECL heap_build::heap_build(array_view<const record* const> roots, array_view<const record* const> named)
    : survey_(roots.size()) {
  for (const record* r : roots) survey_.visit(*r);
  for (const record* r : named) survey_.visit(*r);
  root_place_ = survey_.join(named);
  scoped_ = survey_.found.scoped, looped_ = survey_.found.looped;
  fixed_array<const record*, heap_room> outputs;
  make_room(roots.size(), outputs);
  for (std::size_t i = 0; i < roots.size(); ++i) outputs[i] = roots[i];
  built_ = in_enough_room(expected_nodes(survey_.found, most_heap_nodes), [&](std::size_t room) {
    return build_graph<heap_room, heap_room, true, true>(outputs, survey_.owners.view(), survey_.gradients.view(),
                                                         room);
  });
}

}  // namespace tagma::ir
