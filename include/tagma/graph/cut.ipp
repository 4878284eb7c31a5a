// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of cut.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/graph/cut.hpp"
#include "tagma/graph/cutter.hpp"

namespace tagma::ir {

TAGMA_DECL cut_graph cut(const graph_view& g, const cut_site& site) { return detail::cutter(g, site).run(); }

}  // namespace tagma::ir
