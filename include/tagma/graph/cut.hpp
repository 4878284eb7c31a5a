// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Cuts a graph into parts, one for each task. Where an edge leads from one task to another, the part of the one gets a
/// `send` and that of the other a `receive`; one pair for each tensor, version of its variable, and task that reads it.
/// Each part is a graph of its own, planned and run like any other.

#include "tagma/base/config.hpp"
#include "tagma/graph/cut_graph.hpp"

namespace tagma::ir {

/// Cuts a graph.
///
/// What has to be together is moved together: views of a variable with it, all of a loop to where most of it is,
/// results of an operation with it. What a loop moves asks for no device there. A number is made where it is read. A
/// node reads the version of a variable that it reads in the whole graph, wherever both are; random numbers are those
/// of the whole graph. Throws InvalidArgument for an update that is not with its variable or a user of a resource that
/// is not with that, and for what is no tensor and would be handed over.
/// @param g outlives nothing: parts are copies
[[nodiscard]] cut_graph cut(const graph_view& g, const cut_site& site);

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/cut.ipp"
#endif
