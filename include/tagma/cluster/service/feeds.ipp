// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of feeds.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/cluster/service/feeds.hpp"
#include "tagma/runtime/rendezvous.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL void check_feeds(const ir::graph_view& g, const std::vector<named_feed>& feeds) {
  for (std::size_t f = 0; f < feeds.size(); ++f) {
    for (std::size_t k = 0; k < f; ++k)
      if (feeds[k].name == feeds[f].name)
        fail(status_code::invalid_argument, {"TAGMA-E151 run: one tensor is fed twice: ", feeds[f].name});
    bool found = false;
    for (ir::node_id i = 0; i < g.size(); ++i) {
      if (!g.info(i).is(ir::op_kind::placeholder) || g[i].name != feeds[f].name) continue;
      found = true;
      if (!(g[i].spec.type == feeds[f].value.type))
        fail(status_code::invalid_argument,
             {"TAGMA-E052 run: the value that is fed needs the element type of the placeholder: ", feeds[f].name,
              " is ", to_string(g[i].spec), ", fed is ", to_string(feeds[f].value.type)});
    }
    if (!found)
      fail(status_code::invalid_argument,
           {"TAGMA-E054 run: what is fed is no placeholder of this program: ", feeds[f].name});
  }
}

TAGMA_DECL std::string add_feeds(const ir::graph_view& g, const std::vector<named_feed>& feeds, run_part& to) {
  std::vector<const raw_view*> values;
  std::uint64_t bytes = 0;
  for (const named_feed& f : feeds) {
    fed_tensor one;
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g.info(i).is(ir::op_kind::placeholder) && g[i].name == f.name) one.nodes.push_back(i);
    if (one.nodes.empty()) continue;
    one.spec = {f.value.type, f.value.dims};
    bytes = aligned(bytes) + runtime::handed_over_bytes(f.value);
    values.push_back(&f.value);
    to.feeds.push_back(std::move(one));
  }
  std::string elements;
  elements.reserve(bytes);
  for (const raw_view* const value : values) add_elements(elements, *value);
  return elements;
}

}  // namespace tagma::service
