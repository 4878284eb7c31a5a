// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Whether tables that somebody else made are a finished graph: nothing is believed that can be worked out.

#include <cstddef>

#include "tagma/base/config.hpp"
#include "tagma/graph/flat_graph.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma::ir {

/// The operations of whoever verifies.
using operation_faces = array_view<const operation_face* const>;

/// Checks the tables of a finished graph. Afterwards every position in them is one of a table, nodes stand behind what
/// they read, and every operation takes what it is given and makes what is said.
/// @param values how many numbers the program has beside it
/// Throws InvalidArgument with the number of the node.
void verify(const graph_view& g, operation_faces faces, std::size_t values);

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/verify.ipp"
#endif
