// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a client feeds, by name, and what of it a part of its program takes.

#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/graph/flat_graph.hpp"
#include "tagma/runtime/any_session.hpp"

namespace tagma::service {

/// Throws InvalidArgument for what no placeholder of a program takes, with the rule of the compiler that says so.
void check_feeds(const ir::graph_view& program, const std::vector<named_feed>& feeds);

/// Adds those feeds to a run that nodes of a part take.
/// @returns their elements, for its bulk
[[nodiscard]] std::string add_feeds(const ir::graph_view& part, const std::vector<named_feed>& feeds, run_part& to);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/feeds.ipp"
#endif
